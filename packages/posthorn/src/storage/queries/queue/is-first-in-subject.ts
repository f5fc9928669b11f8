// Whether it is a delivery's turn in its subject: none before it is owed, and no dead one before it holds the subject.

/**
 * For rows under the given name with endpoint_id, subject and sequence. "Less than" and not "any": a planner that sees
 * only equalities may read the whole queue into a hash table.
 */
export const isFirstInSubject = (row: string): string => `not exists (
      select
      from posthorn.queue earlier
      where earlier.endpoint_id = ${row}.endpoint_id
        and earlier.subject = ${row}.subject
        and earlier.sequence < ${row}.sequence
    )
    and not exists (
      select
      from posthorn.held_subjects held
      where held.endpoint_id = ${row}.endpoint_id
        and held.subject = ${row}.subject
        and held.sequence < ${row}.sequence
    )`;
