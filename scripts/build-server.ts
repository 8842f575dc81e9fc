import { currentBundle } from '../core/bundle.js'
import { messageOf } from '../core/kernel/startup-error.ts'
import { buildServer } from './server-bundle.ts'

/*
 * Builds the server bundle unless it is current. Runs as `prepare` during `npm ci`: without development dependencies, or where the bundler does not
 * run, no bundle is built, and the server runs from its sources.
 */
const hasRolldown = await import('rolldown').then(
  () => true,
  () => false,
)
if (hasRolldown && currentBundle() === undefined) {
  try {
    await buildServer()
  } catch (error) {
    process.stderr.write(`The server bundle was not built; the server will run from its sources: ${messageOf(error)}\n`)
  }
}
