import { hasVite, isBuilt, spawnBuild } from '../plugins/web/app-build.ts'

/*
 * Builds the web interface unless it is built already. Part of `npm ci` as `prepare`, so it leaves an installation without development dependencies
 * as it is.
 */
if (hasVite() && !(await isBuilt())) {
  const child = spawnBuild('inherit')
  child.once('exit', code => {
    process.exitCode = code ?? 1
  })
}
