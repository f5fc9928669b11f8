// Stands for uPlot, which needs a canvas. The charts' data is in a table beside it.
export default class NoPlot {
  setSize(): void {}
  destroy(): void {}
}
