import { BlobOwners, BlobStore, Clock, DocumentStore, GeoStore, NoSpace, type Port, Unavailable } from 'pounce/sdk'
import type { Kernel } from '../kernel/kernel.ts'
import { messageOf, StartupError } from '../kernel/startup-error.ts'
import { finishMove } from './migration-record.ts'
import { StoreCopy, type Stores } from './store-copy.ts'

/** The source and target of a migration as kernels: each call creates one that is not started. */
export interface StoreMigration {
  /** `works`: the kernel handles waiting events; otherwise it handles no events or periodic tasks. */
  source(options: { readonly works: boolean }): Promise<Kernel>
  target(): Promise<Kernel>
  /** Whether each store differs between source and target. */
  readonly isOther: { readonly documents: boolean; readonly blobs: boolean; readonly points: boolean }
  /** For instance `sqlite+disk` and `mongodb+s3`. */
  readonly ends: readonly [from: string, to: string]
  readonly readData: boolean
  readonly skipDamaged: boolean
  /** Refuses to omit records or datapoints of the source. Resolves to the plugins whose records are omitted on request. */
  refuseOmissions(source: Kernel): Promise<readonly string[]>
  progress(message: string): void
}

const drainMs = 10 * 60 * 1000
const stores: readonly Port<unknown>[] = [DocumentStore, BlobStore]

/** Migrates an installation between stores, with the source's data folder locked. */
export const migrateStores = async (migration: StoreMigration) => {
  const { documents, blobs } = migration.isOther
  const skipped = await drain(migration)
  const report = await copy(migration)
  const more = skipped.length === 0 ? {} : { skippedPlugins: skipped.join(', ') }
  if (!documents && !blobs) return report
  const search = await rebuildSearch(migration)
  await finish(migration)
  return { ...report, ...more, search }
}

/** Handles all events in the outbox first, because events are not migrated. Resolves to the plugins whose records are omitted. */
async function drain({ source, progress, isOther, refuseOmissions }: StoreMigration): Promise<readonly string[]> {
  const looking = await source({ works: false })
  await looking.start({ until: 'store' })
  let waits: boolean
  let skipped: readonly string[]
  try {
    if ((await looking.storedInstance()) === undefined)
      throw new StartupError('No installation found in the source: check the data folder and the database')
    await refuseOldSchema(looking)
    skipped = isOther.documents || isOther.blobs ? await refuseOmissions(looking) : []
    waits = Object.values((await looking.outbox?.waiting()) ?? {}).some(count => count > 0)
    if (!waits) await refuseDeadLetters(looking)
  } finally {
    await looking.stop()
  }
  if (!waits) return skipped
  progress('handling waiting events first')
  const working = await source({ works: true })
  await working.start()
  try {
    await working.drained(drainMs)
    await refuseDeadLetters(working)
  } finally {
    await working.stop()
  }
  return skipped
}

async function refuseOldSchema(kernel: Kernel): Promise<void> {
  const open = (await kernel.migrations.status()).find(({ state }) => state !== 'applied')
  if (open) throw new StartupError(`The migration ${open.plugin}/${open.name} is ${open.state}: run \`pounce migrate up\` first`)
}

async function refuseDeadLetters(kernel: Kernel): Promise<void> {
  if (((await kernel.outbox?.deadLetters({ limit: 1 })) ?? []).length > 0)
    throw new StartupError('Dead letters cannot be migrated: see `pounce events dead-letters`, then `events retry` or `events drop`')
  const one = (await kernel.absentConsumers()).find(({ waiting }) => waiting > 0)
  if (one) throw new StartupError(`${one.kept} for ${one.consumer} and cannot be migrated: ${one.remedy}`)
}

async function copy({ isOther, ends, readData, skipDamaged, progress, ...make }: StoreMigration) {
  const points = isOther.points ? [GeoStore] : []
  const source = await make.source({ works: false })
  const target = await make.target()
  try {
    await source.open([...stores, ...points], { lock: true })
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
    const instance = await source.storedInstance()
    const collections = source.lastingCollections
    const leases = source.collections.filter(one => !collections.includes(one))
    const report = await new StoreCopy({
      ...{
        route: ends.join(' to '),
        from,
        to,
        places,
        clock: source.get(Clock),
        instance,
        collections,
        leases,
        progress,
        readData,
        skipDamaged,
      },
      hasSearch: isOther.documents || isOther.blobs,
    })
      .run()
      .catch(async (error: unknown) => {
        throw await interruptionBy(error, source, target)
      })
    return { ...report, points: report.points ?? whereStay(source) }
  } finally {
    await target.stop()
    await source.stop()
  }
}

/** The opened plugins of a kernel that do not respond. */
const unavailableOf = async (kernel: Kernel, side: 'source' | 'target'): Promise<readonly string[]> =>
  (await kernel.readiness()).plugins.flatMap(({ id, ok }) => (ok ? [] : [`${id} of the ${side} does not respond`]))

/** For outages and full disks: an error that names the stores that do not respond, and how to continue. Other errors are returned as they are. */
async function interruptionBy(error: unknown, source: Kernel, target: Kernel): Promise<unknown> {
  if (error instanceof NoSpace)
    return new StartupError('There is no space left in the target. The migration is not complete: run the command again to continue it', {
      cause: error,
    })
  if (!(error instanceof Unavailable)) return error
  const causes = [...(await unavailableOf(source, 'source')), ...(await unavailableOf(target, 'target'))]
  const what = causes.length === 0 ? error.message : causes.join(', ')
  return new StartupError(`${what}. The migration is not complete: run the command again to continue it`, { cause: error })
}

/** Describes the location of datapoints that are not migrated. */
function whereStay(source: Kernel): string {
  const keeper = source.graph.providers.get(GeoStore)
  return keeper === undefined ? 'no datapoint store' : `stay in ${keeper}`
}

async function finish({ target }: StoreMigration): Promise<void> {
  const kernel = await target()
  try {
    await kernel.open([DocumentStore])
    await finishMove(kernel.get(DocumentStore))
  } finally {
    await kernel.stop()
  }
}

/** Rebuilds the search index from the records; a failure does not fail the migration. */
async function rebuildSearch({ target, progress }: StoreMigration): Promise<string> {
  const kernel = await target()
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
