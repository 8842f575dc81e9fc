import { collection, type GroupRecord } from 'pounce/sdk'
import { createdBy, personalRecords, transferred } from 'pounce/sdk/kit'

/** Groups of users. Membership is stored in the accounts. */
export const groups = collection<GroupRecord>()('groups', {
  byName: { on: ['name'], unique: true },
  byExternal: { on: ['source', 'external'], unique: true },
  bySpace: { on: ['memberships.space'], array: 'memberships.space' },
  byConfigured: { on: ['configured'], array: 'configured' },
  byRole: { on: ['memberships.role'], array: 'memberships.role' },
})

export const PersonalGroups = personalRecords({
  name: 'groups',
  summary: 'Groups that you created. The groups you belong to are in profile.json.',
  in: groups,
  ...createdBy<GroupRecord>('name', 'description', 'created'),
  erase: transferred(),
})
