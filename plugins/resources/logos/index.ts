import { BlobOwners, definePlugin, PersonalDataSources, provide } from 'pounce/sdk'
import { logos } from './collection.ts'
import { config } from './config.ts'
import { PersonalLogos } from './personal-data.ts'
import * as routes from './routes.ts'
import * as pictureRoutes from './routes-pictures.ts'
import { LogoBlobs } from './stored-logos.ts'

export const plugin = definePlugin({
  id: 'resources.logos',
  summary: 'Logos: images of the installation, of spaces and of users.',
  config,
  provides: [provide(BlobOwners, LogoBlobs), provide(PersonalDataSources, PersonalLogos)],
  routes: { ...routes, ...pictureRoutes },
  collections: [logos],
})
