// Prisma: `tx` is what an interactive prisma.$transaction gives. `prisma` is your generated client.
import { createReceiver, posthorn } from "@posthorn/receiver";
import {
  type PrismaExecutor,
  type PrismaLike,
  postgresStore,
  prismaDatabase,
} from "@posthorn/receiver/postgres";

export function paymentsReceiver(prisma: PrismaLike<PrismaExecutor>) {
  const receiver = createReceiver({
    sources: [posthorn({ secrets: [process.env.WEBHOOK_SECRET] })],
    store: postgresStore(prismaDatabase(prisma, { timeout: 15_000 })),
  });
  return receiver.on("order.paid", async (event, { tx }) => {
    const statement = "insert into payments (event, data) values ($1, $2::jsonb)";
    await tx.$queryRawUnsafe(statement, event.id, JSON.stringify(event.data)); // or tx.payment.create(…)
  });
}
