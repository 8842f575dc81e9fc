import { noStatistics, ownLicense } from 'pounce/sdk/kit'

const types = ['text/csv', 'image/png', 'application/json', 'text/plain'] as const
const hex = (n: number): string => (0xe_0000_0000 + n).toString(16).padStart(24, '0')

/** A stored file in the root of a dataset. Names are in no particular order. */
export const fileRecord = (n: number, dataset: string, author: string) => {
  const name = `measurement ${(n * 7919) % 1_000_003}.dat`
  const contentType = types[n % types.length] ?? types[0]
  return {
    id: hex(n),
    ...{ name, originalName: name, description: '', author, contentType },
    created: new Date(1_600_000_000_000 + n * 1000).toISOString(),
    ...{ sizeBytes: (n * 104_729) % 10_000_000, sha256: hex(n).padStart(64, 'a'), blob: `files/${hex(n)}` },
    ...{ status: 'PROCESSED' as const, places: [{ dataset, folder: null, in: dataset }], thumbnail: null },
    ...{ showPreviews: 'DatasetLevel' as const, license: ownLicense, tags: [], statistics: noStatistics },
  }
}
