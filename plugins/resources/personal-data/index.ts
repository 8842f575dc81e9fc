import { Commands, definePlugin, on, provide } from 'pounce/sdk'
import { EraseUser, ExportUser } from './commands.ts'
import { PersonalErasure } from './erasure.ts'
import * as routes from './export.ts'

export const plugin = definePlugin({
  id: 'resources.personal-data',
  summary: 'Personal data: export and erasure of what is stored about a person.',
  provides: [provide(Commands, ExportUser), provide(Commands, EraseUser)],
  routes,
  handlers: [on('user.erasure-requested', PersonalErasure, 'personal-erasure')],
})
