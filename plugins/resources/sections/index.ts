import { definePlugin, on, onBatch, PersonalDataSources, provide, RightsOf, Sections } from 'pounce/sdk'
import { sections } from './collection.ts'
import { DeleteOrphanedSection, DeleteSectionsOnFileRemoved } from './handlers.ts'
import { PersonalSections } from './personal-data.ts'
import * as routes from './routes.ts'
import { SectionRights } from './section-rights.ts'
import { StoredSections } from './stored-sections.ts'

export const plugin = definePlugin({
  id: 'resources.sections',
  summary: 'Sections: parts of files, such as a face in an image or a scene in a video.',
  provides: [provide(Sections, StoredSections), provide(RightsOf, SectionRights), provide(PersonalDataSources, PersonalSections)],
  routes,
  collections: [sections],
  handlers: [
    onBatch(['file.removed'], DeleteSectionsOnFileRemoved, 'follow-file'),
    on('section.created', DeleteOrphanedSection, 'drop-orphan'),
  ],
})
