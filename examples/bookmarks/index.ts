import { definePlugin, on } from 'pounce/sdk'
import { bookmarks, config, ForgetFile } from './bookmarks.ts'
import * as routes from './routes.ts'

export const plugin = definePlugin({
  id: 'example.bookmarks',
  summary: 'Bookmarks: files that a person wants to find again.',
  isSwitchable: true,
  config,
  routes,
  collections: [bookmarks],
  events: ['bookmark.set'],
  handlers: [on('file.removed', ForgetFile, 'forget-file')],
})
