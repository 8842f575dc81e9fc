import { collection, type GroupRecord } from 'pounce/sdk'

/** Groups of people. The members are written in the accounts. */
export const groups = collection<GroupRecord>('groups', {
  byName: { on: ['name'], unique: true },
  byExternal: { on: ['source', 'external'], unique: true },
  bySpace: { on: ['memberships.space'], array: 'memberships.space' },
  byConfigured: { on: ['configured'], array: 'configured' },
  byRole: { on: ['memberships.role'], array: 'memberships.role' },
})
