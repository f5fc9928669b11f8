// Icons, one 24 × 24 path each. Decorative: always used with a text or label.
const PATHS = {
  overview: "M4 19V9m5 10V5m5 14v-7m5 7V8",
  tail: "M4 6h16M4 12h10M4 18h6",
  event: "M5 12a7 7 0 1 0 14 0 7 7 0 1 0-14 0M12 8v4l3 2",
  delivery: "M4 12 20 5l-5 15-3-6z",
  retry: "M4 11a8 8 0 1 1 2 6M4 5v6h6",
  dead: "M6 6l12 12M18 6 6 18",
  replay: "M11 6 5 12l6 6M19 6l-6 6 6 6",
  tenant: "M4 20V8l8-4 8 4v12M9 20v-6h6v6",
  endpoint: "M10 14 20 4m0 0h-6m6 0v6M18 14v5H5V6h5",
  catalogue: "M5 4h11l3 3v13H5zM9 10h6M9 14h6",
  key: "M14 10a4 4 0 1 0-3 3.9L14 17h3v3h3v-3l-6-6z",
  audit: "M6 4h12v16l-3-2-3 2-3-2-3 2zM9 9h6M9 13h4",
  system: "M4 5h16v6H4zM4 13h16v6H4zM8 8h.01M8 16h.01",
  check: "m5 12 5 5 9-10",
  warning: "M12 4 2.8 20h18.4zM12 10v4m0 3h.01",
  clock: "M12 7v5l3 3M4 12a8 8 0 1 0 16 0 8 8 0 1 0-16 0",
  pause: "M9 6v12M15 6v12",
  send: "M5 12h14m-6-6 6 6-6 6",
  copy: "M9 9h10v11H9zM5 15V4h10",
  search: "M4 11a7 7 0 1 0 14 0 7 7 0 1 0-14 0m12 5 4 4",
  menu: "M4 7h16M4 12h16M4 17h16",
  close: "M6 6l12 12M18 6 6 18",
  more: "M6 12h.01M12 12h.01M18 12h.01",
  up: "M12 19V5m-6 6 6-6 6 6",
  columns: "M4 5h16v14H4zM9.5 5v14M14.5 5v14",
  plus: "M12 5v14M5 12h14",
  info: "M4 12a8 8 0 1 0 16 0 8 8 0 1 0-16 0m8 0v4m0-8h.01",
  lock: "M7 11V8a5 5 0 0 1 10 0v3M5 11h14v9H5z",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 2v3m0 14v3M2 12h3m14 0h3M5 5l2 2m10 10 2 2M5 19l2-2M17 7l2-2",
  moon: "M20 14A8 8 0 1 1 10 4a7 7 0 0 0 10 10",
  keyboard: "M3 6h18v12H3zM7 10h.01M11 10h.01M15 10h.01M8 14h8",
} as const;
export type IconName = keyof typeof PATHS;

export function Icon({ name, className = "" }: { readonly name: IconName; readonly className?: string }) {
  return (
    <svg
      aria-hidden="true"
      viewBox="0 0 24 24"
      className={`inline-block size-4 shrink-0 ${className}`}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
