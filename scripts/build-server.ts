import { currentBundle } from '../core/bundle.js'
import { messageOf } from '../core/kernel/startup-error.ts'
import { buildServer } from './server-bundle.ts'

/*
 * Builds the bundle of the server unless it is current. Part of `npm ci` as `prepare`: without development dependencies, or where the bundler does not
 * run, there is no bundle, and the server runs from its sources.
 */
const hasRolldown = await import('rolldown').then(
  () => true,
  () => false,
)
if (hasRolldown && currentBundle() === undefined) {
  try {
    await buildServer()
  } catch (error) {
    process.stderr.write(`The bundle of the server was not built, so that it starts from its sources: ${messageOf(error)}\n`)
  }
}
