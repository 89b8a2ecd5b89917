// SPDX-License-Identifier: MIT
// The JSON of a report, as README.md describes it.

export type Status = 'seen' | 'not seen' | 'not run' | 'running';

export interface Report {
  format: number;
  title: string;
  udv?: string;
  made?: string;
  summary?: string[];
  counts?: Record<string, number>;
  progress?: Progress;
  sections?: Section[];
}

export interface Progress {
  done?: number | null;
  text?: string;
  seconds?: number | null;
  left?: number | null;
  state?: 'running' | 'ended' | 'interrupted' | 'stalled';
}

export interface Section {
  id: string;
  title: string;
  where?: string;
  status?: Status;
  claim?: string;
  rule?: string;
  note?: string;
  open?: boolean;
  checks?: Check[];
  blocks?: Block[];
}

export interface Check {
  name: string;
  ours?: string;
  wanted?: string;
  paper?: string;
  ok?: boolean | null;
}

export type ScaleKind = 'linear' | 'log' | 'symlog';

export interface AxisText {
  title?: string;
  scale?: ScaleKind;
  // Ticks at whole numbers only: ranks and counts.
  whole?: boolean;
}

export interface FactsBlock {
  kind: 'facts';
  title?: string;
  items: [string, string][];
}

export type TableCell = string | number | null | {text: string; best?: boolean; paper?: string};

export interface TableBlock {
  kind: 'table';
  title?: string;
  columns: string[];
  rows: TableCell[][];
}

export type Point = [number, number | null];

export interface LineSeries {
  name: string;
  dash?: boolean;
  color?: number;
  step?: boolean;
  // false: marks alone, as in a cloud of points.
  line?: boolean;
  panel?: string;
  band?: [number, number | null, number | null][];
  points: Point[];
}

export interface LinesBlock {
  kind: 'lines';
  title?: string;
  x?: AxisText;
  y?: AxisText;
  series: LineSeries[];
  rules?: {y: number; text?: string}[];
  panels?: boolean;
  points?: boolean;
}

export interface BarsBlock {
  kind: 'bars';
  title?: string;
  times: number[];
  time_title?: string;
  x_title?: string;
  panels: {title: string; scale?: ScaleKind; values: (number | null)[][]}[];
}

export interface Picture {
  caption?: string;
  src: string;
  pixelated?: boolean;
  /** A length on the picture: its share of the width, and in words. */
  bar?: {share: number; text: string};
  /** What black and white stand for. */
  range?: {low: string; high: string};
}

export interface PicturesBlock {
  kind: 'pictures';
  title?: string;
  /** Pictures of one thing at one scale: they can be enlarged together. */
  zoom?: boolean;
  items: Picture[];
}

export interface CompareBlock {
  kind: 'compare';
  title?: string;
  before: Picture;
  after: Picture;
}

export interface HeatmapBlock {
  kind: 'heatmap';
  title?: string;
  x_title?: string;
  y_title?: string;
  x: string[];
  y: string[];
  values: (number | null)[][];
  value_title?: string;
}

export interface TextBlock {
  kind: 'text';
  title?: string;
  text: string;
  code?: boolean;
}

export type Block =
  | FactsBlock | TableBlock | LinesBlock | BarsBlock | PicturesBlock | CompareBlock | HeatmapBlock | TextBlock;
