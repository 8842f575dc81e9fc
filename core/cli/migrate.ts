import type { Run } from './built-in.ts'
import { makeKernel, withKernel } from './kernel-session.ts'

/** `pounce migrate status`. */
export const migrationStatus: Run = async context => withKernel(await makeKernel(context), 'store', kernel => kernel.migrations.status())

/** `pounce migrate up`. */
export const migrateUp: Run = async context =>
  withKernel(await makeKernel(context), 'store', async kernel => {
    const { applied } = await kernel.migrations.run(true, message => context.progress(message))
    return { applied }
  })
