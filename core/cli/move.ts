import pino from 'pino'
import { BlobOwners, BlobStore, DocumentStore, GeoStore, type Port } from 'pounce/sdk'
import { systemClock } from '../clock.ts'
import type { Config } from '../config.ts'
import { lockDataFolder } from '../data-lock.ts'
import { bootKernel, type Kernel } from '../kernel.ts'
import { idOfName, metaRecords } from '../kernel-records.ts'
import { createLog } from '../log.ts'
import { Move, type Stores } from '../moving/move.ts'
import { configFor, parseSide, type Side } from '../moving/sides.ts'
import { messageOf, StartRefused } from '../start-refused.ts'
import type { Context, Run } from './built-in.ts'
import { migrationStatus } from './migrate.ts'

const drainMs = 10 * 60 * 1000
const stores: readonly Port<unknown>[] = [DocumentStore, BlobStore]

const boot = (config: Config, roles: Config['kernel']['roles'] = []): Promise<Kernel> => {
  const log = createLog({ level: 'warn', stream: pino.destination({ dest: 2, sync: true }) })
  return bootKernel({ ...config, kernel: { ...config.kernel, roles } }, { log })
}

/** `pounce migrate`: moves the installation with `--from` and `--to`; lists migrations without them. */
export const move: Run = async context => {
  const { from, to } = context.options
  if (from === undefined && to === undefined) return migrationStatus(context)
  if (typeof from !== 'string' || typeof to !== 'string')
    throw new StartRefused('Say both: pounce migrate --from sqlite+disk --to mongodb+s3')
  const sides = { from: parseSide(from, '--from'), to: parseSide(to, '--to') }
  if ((sides.from.points === undefined) !== (sides.to.points === undefined))
    throw new StartRefused(
      `--from ${from} and --to ${to}: name the store of points on both sides, or on neither to leave them where they are`,
    )
  const { documents, blobs, points } = differences(sides)
  if (!documents && !blobs && !points) throw new StartRefused(`--from and --to are both ${from}: there is nothing to move`)
  return moveBetween(sides, `${from} to ${to}`, context)
}

interface Sides {
  readonly from: Side
  readonly to: Side
}

const differences = ({ from, to }: Sides) => ({
  documents: from.documents !== to.documents,
  blobs: from.blobs !== to.blobs,
  points: from.points !== to.points,
})

async function moveBetween(sides: Sides, route: string, context: Context) {
  const config = await configFor(sides.from, context.sources)
  const target = await configFor(sides.to, context.sources)
  await drain(config, context)
  const lock = await lockDataFolder(config.kernel.data)
  let report: Awaited<ReturnType<typeof copy>>
  try {
    report = await copy(await boot(config), await boot(target), sides, route, context)
  } finally {
    await lock.release()
  }
  const { documents, blobs } = differences(sides)
  return documents || blobs ? { ...report, search: await rebuildSearch(target, context) } : report
}

/** What waits in the outbox is done first: events are not moved. */
async function drain(config: Config, { progress }: Context): Promise<void> {
  const looking = await boot(config)
  await looking.start({ until: 'store' })
  let waits: boolean
  try {
    await refuseNothing(looking)
    await refuseOldSchema(looking)
    waits = Object.values((await looking.outbox?.waiting()) ?? {}).some(count => count > 0)
    if (!waits) await refuseParked(looking)
  } finally {
    await looking.stop()
  }
  if (!waits) return
  progress('work that waits is done first')
  const working = await boot(config, ['worker'])
  await working.start()
  try {
    await working.drained(drainMs)
    await refuseParked(working)
  } finally {
    await working.stop()
  }
}

async function refuseNothing(kernel: Kernel): Promise<void> {
  if (!(await kernel.get(DocumentStore).get(metaRecords, idOfName('installation'))))
    throw new StartRefused('The source holds no installation: is it the right data folder, or the right database?')
}

async function refuseOldSchema(kernel: Kernel): Promise<void> {
  const open = (await kernel.migrations.status()).find(({ state }) => state !== 'applied')
  if (open) throw new StartRefused(`The migration ${open.plugin}/${open.name} is ${open.state}: run \`pounce migrate up\` first`)
}

async function refuseParked(kernel: Kernel): Promise<void> {
  if (((await kernel.outbox?.parked({ limit: 1 })) ?? []).length > 0)
    throw new StartRefused(
      'Events were put aside after they failed, and cannot be moved: see `pounce events parked`, then `events retry` or `events drop`',
    )
}

async function copy(source: Kernel, target: Kernel, sides: Sides, route: string, context: Context) {
  const isOther = differences(sides)
  const points = isOther.points ? [GeoStore] : []
  try {
    await source.open([...stores, ...points])
    await target.open([...(isOther.documents ? [DocumentStore] : []), ...(isOther.blobs ? [BlobStore] : []), ...points])
    const from: Stores = {
      documents: source.get(DocumentStore),
      blobs: source.get(BlobStore),
      ...(isOther.points ? { points: source.get(GeoStore) } : {}),
    }
    const to: Stores = {
      documents: isOther.documents ? target.get(DocumentStore) : from.documents,
      blobs: isOther.blobs ? target.get(BlobStore) : from.blobs,
      ...(isOther.points ? { points: target.get(GeoStore) } : {}),
    }
    const places = source
      .get(BlobOwners)
      .all()
      .flatMap(owner => owner.places)
    const report = await new Move({
      ...{ route, from, to, places, clock: systemClock, collections: source.collections },
      progress: message => context.progress(message),
      readData: context.options['read-data'] === true,
      skipDamaged: context.options['skip-damaged'] === true,
    }).run()
    return { ...report, points: report.points ?? whereStay(source) }
  } finally {
    await target.stop()
    await source.stop()
  }
}

/** Who did not think of them learns where they are. */
function whereStay(source: Kernel): string {
  const keeper = source.plan.providers.get(GeoStore)
  return keeper === undefined ? 'no store of points' : `stay in ${keeper}`
}

/** The index is made from the records; when it cannot be made now, everything else is moved all the same. */
async function rebuildSearch(config: Config, { progress }: Context): Promise<string> {
  const kernel = await boot(config)
  const command = kernel.commands.find(({ name }) => name === 'reindex')
  if (!command) return 'no search plugin'
  try {
    await kernel.start({ until: 'plugins' })
    const result = await command.run({ arguments: {}, options: {} }, progress)
    return `rebuilt: ${JSON.stringify(result)}`
  } catch (error) {
    return `not rebuilt (${messageOf(error)}); run \`pounce reindex\` with the new stores configured`
  } finally {
    await kernel.stop()
  }
}
