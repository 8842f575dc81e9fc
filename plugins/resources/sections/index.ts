import { definePlugin, on, onBatch, provide, RightsOf, Sections } from 'pounce/sdk'
import { sections } from './collection.ts'
import { DropOrphan, FollowFile } from './handlers.ts'
import * as routes from './routes.ts'
import { SectionRights } from './section-rights.ts'
import { SectionDesk, StoredSections } from './stored-sections.ts'

export const plugin = definePlugin({
  id: 'resources.sections',
  summary: 'Sections: parts of files, such as a face in a picture or a scene in a film.',
  provides: [provide(Sections, StoredSections), provide(SectionDesk, StoredSections), provide(RightsOf, SectionRights)],
  routes,
  collections: [sections],
  handlers: [onBatch(['file.removed'], FollowFile), on('section.created', DropOrphan)],
})
