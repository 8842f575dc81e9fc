import { eq } from 'pounce/sdk'
import { type PersonalRecords, personalRecords } from 'pounce/sdk/kit'
import { charges, keyOf, type LimitRecord, limits, type UsageRecord, usages } from './collections.ts'

type Person = Parameters<PersonalRecords<UsageRecord>['isOf']>[1]

const keyOfPerson = ({ id }: Person): string => keyOf({ kind: 'user', id })
const isOf = ({ id }: { readonly id: string }, person: Person): boolean => id === keyOfPerson(person)
const name = 'quota'
const summary = 'Your storage usage, your quota, and the size that each of your files is charged with.'

export const PersonalUsage = personalRecords<UsageRecord>({
  ...{ name, summary, in: usages, isOf },
  show: ({ bytes, files }) => ({ usedBytes: bytes, usedFiles: files }),
})

export const PersonalLimit = personalRecords<LimitRecord>({
  ...{ name, summary, in: limits, isOf },
  show: ({ maxBytes, maxFiles }) => ({ maxBytes, maxFiles }),
  erase: () => 'remove',
})

/** Resources transferred to an heir are charged to the heir by a recount. */
export const PersonalCharges = personalRecords({
  ...{ name, summary, in: charges },
  find: person => ({ using: 'byHolder', where: eq('holders', keyOfPerson(person)) }),
  isOf: ({ holders }, person) => holders.includes(keyOfPerson(person)),
  show: ({ id, sizeBytes, at }) => ({ file: id, sizeBytes, at }),
})
