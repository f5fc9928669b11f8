// The mark of Posthorn: a post horn. icon.svg has the same drawing.

export function Mark({ className = "size-6" }: { readonly className?: string }) {
  return (
    <svg aria-hidden="true" viewBox="0 0 32 32" className={`shrink-0 ${className}`}>
      <rect width="32" height="32" rx="8" className="fill-brand" />
      <g
        fill="none"
        className="stroke-on-brand"
        strokeWidth="2.8"
        strokeLinecap="round"
        strokeLinejoin="round"
      >
        <circle cx="13" cy="18.5" r="6" />
        <path d="M6 12.5h13" />
        <path className="fill-on-brand" d="m19 12.5 7-5v10z" />
      </g>
    </svg>
  );
}
