import { once } from 'node:events'
import { hasVite, isBuilt, spawnBuild } from '../../plugins/web/app-build.ts'

/** Builds the web interface from the current sources unless it is up to date, like `npm ci`. */
export const webBuild = async (): Promise<void> => {
  if (!hasVite() || (await isBuilt())) return
  const [code] = await once(spawnBuild(), 'exit')
  if (code !== 0) throw new Error('The build of the web interface failed: run `npm run web:build`')
}
