// Which rows of a long table are in sight of the window. Rows are all as tall, so it is a division, whatever their number:
// to measure 100,000 of them anew with every page that was read took longer than to draw those in sight.
import { type RefObject, useEffect, useLayoutEffect, useRef, useSyncExternalStore } from "react";

export const ROW_PX = 41;
/** Rows above and below the window that are drawn already. */
const BESIDE = 12;
/** The table is drawn again after so many rows, not after each. */
const STEP = 4;
/** Between a row that is gone to and the edge of the window: bars stand there. */
const EDGE_PX = 2 * ROW_PX;

export interface RowsInSight {
  readonly first: number;
  /** The one after the last. */
  readonly end: number;
  /** Brings a row into sight, and nothing moves when it is. */
  readonly scrollTo: (index: number) => void;
}

/** `begunAtPx`: where the window was when the reader left. */
export function useRowsInSight(
  body: RefObject<HTMLElement | null>,
  count: number,
  begunAtPx: number,
  onLeave: (offsetPx: number) => void,
): RowsInSight {
  const top = useRef(0);
  const isNearTop = useRef(true);
  const begun = useRef(begunAtPx);
  useLayoutEffect(() => {
    // what is above the table changes while it is in sight; further down, to ask would lay out the page once more
    if (isNearTop.current) top.current = (body.current?.getBoundingClientRect().top ?? 0) + window.scrollY;
    // once, when there is something to scroll to
    if (begun.current > 0) window.scrollTo(0, begun.current);
    begun.current = 0;
  });
  const inSight = useSyncExternalStore(onMove, () => {
    const row = Math.floor((window.scrollY - top.current) / ROW_PX);
    return Math.max(0, row - (row % STEP));
  });
  isNearTop.current = inSight === 0;
  const atATime = useSyncExternalStore(onMove, () => Math.ceil(window.innerHeight / ROW_PX) + STEP);
  useOffsetAtLeaving(onLeave);
  return {
    first: Math.max(0, Math.min(inSight, count - atATime) - BESIDE),
    end: Math.min(count, inSight + atATime + BESIDE),
    scrollTo: (index) => {
      const rowTop = top.current + index * ROW_PX;
      const highest = rowTop - EDGE_PX;
      const lowest = rowTop + ROW_PX + EDGE_PX - window.innerHeight;
      if (window.scrollY > highest) window.scrollTo(0, highest);
      else if (window.scrollY < lowest) window.scrollTo(0, lowest);
    },
  };
}

function onMove(moved: () => void): () => void {
  window.addEventListener("scroll", moved, { passive: true });
  window.addEventListener("resize", moved);
  return () => {
    window.removeEventListener("scroll", moved);
    window.removeEventListener("resize", moved);
  };
}

/** As it was last seen: when a table goes, the window has moved already. */
function useOffsetAtLeaving(onLeave: (offsetPx: number) => void): void {
  const leave = useRef(onLeave);
  leave.current = onLeave;
  useEffect(() => {
    let offsetPx = window.scrollY;
    const stop = onMove(() => {
      offsetPx = window.scrollY;
    });
    return () => {
      stop();
      leave.current(offsetPx);
    };
  }, []);
}
