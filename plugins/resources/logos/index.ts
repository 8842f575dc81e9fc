import { BlobOwners, definePlugin, provide } from 'pounce/sdk'
import { logos } from './collection.ts'
import { config } from './config.ts'
import { LogoAccess, LogoRights } from './logo-rights.ts'
import * as routes from './routes.ts'
import * as pictureRoutes from './routes-pictures.ts'
import { LogoBlobs, Logos, StoredLogos } from './stored-logos.ts'

export const plugin = definePlugin({
  id: 'resources.logos',
  summary: 'Logos: pictures of the installation, of spaces and of people.',
  config,
  provides: [provide(Logos, StoredLogos), provide(LogoAccess, LogoRights), provide(BlobOwners, LogoBlobs)],
  routes: { ...routes, ...pictureRoutes },
  collections: [logos],
})
