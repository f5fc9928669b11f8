// Who notes a failure does not wait for long. A handler that was given up may have left a statement at work, whose connection
// has the row for as long: each failure would wait on a connection of the pool, until none is left to accept a message by.
// The message is then left to the end of its lease.
export const impatience = `
alter function posthorn_receiver.fail set lock_timeout = '1s';
`;
