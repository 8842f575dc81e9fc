import { bootKernel, type Kernel } from '../boot.ts'
import type { Config } from '../kernel/config.ts'
import { StartupError } from '../kernel/startup-error.ts'
import { createLog, logDestination } from '../services/log.ts'
import { migrateStores } from '../store-migration/migrate-stores.ts'
import { refuseAbsentPlugins, refuseForgottenPoints } from './absent-plugins.ts'
import type { CommandContext, RunCommand } from './built-in.ts'
import { makeKernel, withKernel } from './kernel-session.ts'
import { configFor, parseStores } from './store-selection.ts'

/** `pounce migrate status`. */
export const migrationStatus: RunCommand = async context =>
  withKernel(context, await makeKernel(context), { until: 'store' }, kernel => kernel.migrations.status())

/** `pounce migrate up`. */
export const migrateUp: RunCommand = async context =>
  withKernel(context, await makeKernel(context), { until: 'store', creates: true }, async kernel => {
    const { applied, backup } = await kernel.migrations.run(true, message => context.progress(message))
    return { applied, ...(backup === undefined ? {} : { backup }) }
  })

const boot = (config: Config, roles: Config['kernel']['roles'] = []): Promise<Kernel> => {
  const log = createLog({ level: 'warn', stream: logDestination(2) })
  return bootKernel({ ...config, kernel: { ...config.kernel, roles } }, { log })
}

/** `pounce migrate`: migrates the installation from `--from` to `--to`; lists migrations without these options. */
export const move: RunCommand = async context => {
  const { from, to } = context.options
  if (from === undefined && to === undefined) return migrationStatus(context)
  if (typeof from !== 'string' || typeof to !== 'string')
    throw new StartupError('Both options are required: pounce migrate --from sqlite+disk --to mongodb+s3')
  return moveBetween(from, to, context)
}

const namesIn = (list: unknown): readonly string[] =>
  typeof list === 'string'
    ? list
        .split(',')
        .map(name => name.trim())
        .filter(name => name !== '')
    : []

async function moveBetween(from: string, to: string, { sources, options, progress }: CommandContext) {
  const here = parseStores(from, '--from')
  const there = parseStores(to, '--to')
  if ((here.points === undefined) !== (there.points === undefined))
    throw new StartupError(
      `--from ${from} and --to ${to}: specify the datapoint store on both sides, or on neither to leave datapoints in place`,
    )
  const isOther = {
    documents: here.documents !== there.documents,
    blobs: here.blobs !== there.blobs,
    points: here.points !== there.points,
  }
  if (!Object.values(isOther).includes(true)) throw new StartupError(`--from and --to are both ${from}: nothing to migrate`)
  const source = await configFor(here, sources)
  const target = await configFor(there, sources)
  return migrateStores({
    source: ({ works }) => boot(source, works ? ['worker'] : []),
    target: () => boot(target),
    isOther,
    ends: [from, to],
    readData: options['read-data'] === true,
    skipDamaged: options['skip-damaged'] === true,
    refuseOmissions: async kernel => {
      if (here.points === undefined) await refuseForgottenPoints(kernel, [from, to])
      return refuseAbsentPlugins(kernel, namesIn(options['skip-plugins']))
    },
    progress,
  })
}
