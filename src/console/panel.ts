/** A part of the page. */
export interface Panel {
  readonly element: HTMLElement;
  /** Shows the model as it is now. */
  update(): void;
}
