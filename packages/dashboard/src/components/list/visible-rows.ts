// Computes which rows of a long table are visible. All rows have the same height, so this needs no measuring: measuring
// 100,000 rows took longer than rendering the visible ones.
import { type RefObject, useEffect, useLayoutEffect, useRef, useSyncExternalStore } from "react";

export const ROW_PX = 41;
/** Rows rendered above and below the window. */
const OVERSCAN = 12;
/** The table renders again after scrolling this many rows. */
const STEP = 4;
/** Distance between the focused row and the window edge, where sticky bars are. */
const EDGE_PX = 2 * ROW_PX;

/** `initialOffsetPx` is the scroll position to restore. */
export function useVisibleRows(
  body: RefObject<HTMLElement | null>,
  count: number,
  initialOffsetPx: number,
  onLeave: (offsetPx: number) => void,
) {
  const top = useRef(0);
  const isNearTop = useRef(true);
  const initialOffset = useRef(initialOffsetPx);
  useLayoutEffect(() => {
    // content above the table may change its position; further down, measuring would force a layout
    if (isNearTop.current) top.current = (body.current?.getBoundingClientRect().top ?? 0) + window.scrollY;
    // once, when there are rows to scroll to
    if (initialOffset.current > 0) window.scrollTo(0, initialOffset.current);
    initialOffset.current = 0;
  });
  const firstVisible = useSyncExternalStore(onScroll, () => {
    const row = Math.floor((window.scrollY - top.current) / ROW_PX);
    return Math.max(0, row - (row % STEP));
  });
  isNearTop.current = firstVisible === 0;
  const visibleCount = useSyncExternalStore(onScroll, () => Math.ceil(window.innerHeight / ROW_PX) + STEP);
  useOffsetOnUnmount(onLeave);
  return {
    first: Math.max(0, Math.min(firstVisible, count - visibleCount) - OVERSCAN),
    /** Exclusive. */
    end: Math.min(count, firstVisible + visibleCount + OVERSCAN),
    /** Scrolls a row into view if needed. */
    scrollTo: (index: number) => {
      const rowTop = top.current + index * ROW_PX;
      const highest = rowTop - EDGE_PX;
      const lowest = rowTop + ROW_PX + EDGE_PX - window.innerHeight;
      if (window.scrollY > highest) window.scrollTo(0, highest);
      else if (window.scrollY < lowest) window.scrollTo(0, lowest);
    },
  };
}

function onScroll(moved: () => void): () => void {
  window.addEventListener("scroll", moved, { passive: true });
  window.addEventListener("resize", moved);
  return () => {
    window.removeEventListener("scroll", moved);
    window.removeEventListener("resize", moved);
  };
}

/** Remembers the last scroll position: when the table unmounts, the window has already moved. */
function useOffsetOnUnmount(onLeave: (offsetPx: number) => void): void {
  const leave = useRef(onLeave);
  leave.current = onLeave;
  useEffect(() => {
    let offsetPx = window.scrollY;
    const stop = onScroll(() => {
      offsetPx = window.scrollY;
    });
    return () => {
      stop();
      leave.current(offsetPx);
    };
  }, []);
}
