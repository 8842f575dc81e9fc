import { BlobOwners, definePlugin, PersonalDataSources, provide } from 'pounce/sdk'
import { PersonalLogos } from './personal-data.ts'
import * as routes from './routes.ts'
import { config, LogoBlobs, logos } from './stored-logos.ts'

export const plugin = definePlugin({
  id: 'resources.logos',
  summary: 'Logos: images of the installation, of spaces and of users.',
  config,
  provides: [provide(BlobOwners, LogoBlobs), provide(PersonalDataSources, PersonalLogos)],
  routes,
  collections: [logos],
})
