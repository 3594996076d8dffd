const { Prisma, PrismaClient } = require('./client');
const { PrismaMariaDb } = require('@prisma/adapter-mariadb');
const { check, main, server } = require('../verdict/verdict');

main('prisma', async () => {
  const prisma = new PrismaClient({ adapter: new PrismaMariaDb({ ...server, connectionLimit: 2 }) });
  const id = async (query, on = prisma) => (await on.$queryRaw(query))[0].id;

  await check('$queryRaw', async () => [
    await id(Prisma.sql`SELECT next_id('orders') AS id`),
    await id(Prisma.sql`SELECT next_id(${'orders'}) AS id`),
  ]);
  await check('$transaction', () =>
    prisma.$transaction(async tx => [
      await id(Prisma.sql`SELECT next_id('orders') AS id`, tx),
      await id(Prisma.sql`SELECT next_id('orders') AS id`, tx),
    ]),
  );
  await check('model over the table ids', async () => [
    (await prisma.ids.findUnique({ where: { name: 'orders' } })).id,
    (await prisma.ids.findFirstOrThrow({ where: { name: 'orders' } })).id,
  ]);
  await prisma.$disconnect();
});
