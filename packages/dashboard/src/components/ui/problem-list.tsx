// Problems of a form that belong to no field.
export function ProblemList({ problems }: { readonly problems: readonly string[] }) {
  if (problems.length === 0) return null;
  return (
    <ul role="alert" className="rounded-md bg-bad-ground p-3 text-sm break-words text-bad">
      {problems.map((problem) => (
        <li key={problem}>{problem}</li>
      ))}
    </ul>
  );
}
