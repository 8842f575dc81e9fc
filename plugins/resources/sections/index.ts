import { definePlugin, on, onBatch, provide, Sections } from 'pounce/sdk'
import { sectionResource } from './resource.ts'
import * as routes from './routes.ts'
import { DeleteOrphanedSection, DeleteSectionsOnFileRemoved, StoredSections } from './stored-sections.ts'

export const plugin = definePlugin({
  id: 'resources.sections',
  summary: 'Sections: parts of files, such as a face in an image or a scene in a video.',
  resources: [sectionResource],
  provides: [provide(Sections, StoredSections)],
  routes,
  handlers: [
    onBatch(['file.removed'], DeleteSectionsOnFileRemoved, 'follow-file'),
    on('section.created', DeleteOrphanedSection, 'drop-orphan'),
  ],
})
