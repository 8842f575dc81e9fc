import { Problem } from 'pounce/sdk'
import type { HolderKind, UsageRecord } from './collections.ts'

const sentence = (used: number, more: number, max: number, unit: string): string | undefined =>
  max > 0 && more > 0 && used + more > max ? `${used} of ${max} ${unit} are used and this needs ${more} more` : undefined

/** 413: a person or a space would store more than it may. Nothing was stored. */
export class QuotaExceeded extends Problem {
  constructor(
    kind: HolderKind,
    used: UsageRecord,
    { maxBytes, maxFiles }: { readonly maxBytes: number; readonly maxFiles: number },
    more: UsageRecord,
  ) {
    const whose = kind === 'user' ? 'Your storage quota' : 'The storage quota of the space'
    const found = [sentence(used.bytes, more.bytes, maxBytes, 'bytes'), sentence(used.files, more.files, maxFiles, 'files')]
    // What was in the way may have been deleted since.
    const why = found.filter(text => text !== undefined).join(', ') || 'another upload took what was left'
    super(
      413,
      'quota-exceeded',
      `${whose} is exceeded: ${why}. Delete files (for good: the trash counts), or ask a server admin for more`,
      {
        details: { quota: { kind, usedBytes: used.bytes, maxBytes, usedFiles: used.files, maxFiles } },
      },
    )
  }
}
