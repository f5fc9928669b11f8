// Whether a delivery is the first of its subject: no earlier one is queued, and no dead one holds the subject.

/**
 * For a row of the given name with endpoint_id, subject and sequence. Compares with "less than": with equalities only,
 * the planner may read the whole queue into a hash table.
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
