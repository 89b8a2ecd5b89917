// SPDX-License-Identifier: MIT
// What every kind of block gives to the page.

export interface BlockView {
  element: HTMLElement;
  // Takes a newer block of the same kind, keeping what the reader has set; false asks for a fresh drawing.
  update?(block: never): boolean;
  remove?(): void;
}

// name: prefix of the names of saved files, e.g. the section's id.
export type DrawBlock = (block: never, name: string) => BlockView;
