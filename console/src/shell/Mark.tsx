/** The sign of Weft: one thread through three. */
export function Mark() {
  return (
    <svg
      width="22"
      height="22"
      viewBox="0 0 32 32"
      fill="none"
      strokeWidth="3"
      strokeLinecap="round"
      aria-hidden="true"
    >
      <path d="M9 5v9.2M9 20v7M16 5v6M16 17.6V27M23 5v9.2M23 20v7" stroke="var(--edge)" />
      <path d="M3 17c4 0 5.5-3 10-3s5 4 9.5 4 4.5-2 6.5-2" stroke="var(--accent)" />
    </svg>
  );
}
