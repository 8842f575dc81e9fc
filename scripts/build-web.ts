import { hasVite, isBuilt, spawnBuild } from '../plugins/web/app-build.ts'

/*
 * Builds the web interface unless it is built already. Runs as `prepare` during `npm ci`, and therefore does nothing without development
 * dependencies.
 */
if (hasVite() && !(await isBuilt())) {
  const child = spawnBuild('inherit')
  child.once('exit', code => {
    process.exitCode = code ?? 1
  })
}
