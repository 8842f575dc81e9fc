import { definePlugin } from 'pounce/sdk'
import { AppBuild } from './app-build.ts'
import { NotFoundPage } from './not-found-page.ts'
import * as routes from './routes.ts'
import * as sampleFiles from './sample-files.ts'

export const plugin = definePlugin({
  id: 'web',
  summary: 'The web interface: pages for browsing, uploading, searching and viewing data.',
  services: [AppBuild],
  routes: { ...routes, ...sampleFiles },
  middleware: [{ phase: 'beforeRouting', by: NotFoundPage }],
})
