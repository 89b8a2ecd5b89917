// SPDX-License-Identifier: MIT
// What a chart has really drawn, read back from the shapes on the page and turned into data by the chart's own scales.

// One list of [x, y] for each path of a layer: lines, steps.
export function drawn_paths(figure, panel, layer) {
  return figure.evaluate((element, [p, l]) => {
    const {view} = element.chart;
    const [x, y] = [view.scale(`concat_${p}_x`), view.scale(`concat_${p}_y`)];
    const paths = [...element.querySelectorAll(`.${l}${p}_marks path`)].map((path) => path.getAttribute('d') ?? '');
    return paths.filter(Boolean).map((d) => [...d.matchAll(/[ML](-?[\d.e-]+),(-?[\d.e-]+)/g)].map(([, a, b]) => [x.invert(+a), y.invert(+b)]));
  }, [panel, layer]);
}

export function drawn_marks(figure, panel, layer) {
  return figure.locator(`.${layer}${panel}_marks path`).count();
}

// Values of the bars of a panel, from the heights of the drawn rectangles.
export function drawn_bars(figure, panel) {
  return figure.evaluate((element, p) => {
    const y = element.chart.view.scale(`concat_${p}_y`);
    return [...element.querySelectorAll(`.concat_${p}_marks path`)].map((path) => {
      const [, top, height] = /M[-\d.e]+,([-\d.e]+)h[-\d.e]+v([-\d.e]+)/.exec(path.getAttribute('d'));
      const shift = /translate\([^,]+,([-\d.e]+)\)/.exec(path.getAttribute('transform') ?? '')?.[1] ?? 0;
      const [a, b] = [y.invert(+shift + +top), y.invert(+shift + +top + +height)];
      return Math.abs(a) > Math.abs(b) ? a : b;
    });
  }, panel);
}

// Shapes are written with a precision of about a thousandth of a pixel.
export function close(a, b, relative = 2e-3, absolute = 1e-9) {
  return Math.abs(a - b) <= absolute + relative * Math.max(Math.abs(a), Math.abs(b));
}
