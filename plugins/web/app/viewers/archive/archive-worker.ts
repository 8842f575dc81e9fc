import { callsThrough } from '../lib/worker-calls.ts'
import { Archive } from './archive-data.ts'

let archive: Archive | undefined
const call = callsThrough(globalThis as never, {
  open: async (sizeBytes: number) => {
    archive = await Archive.open((start, end) => call('read', start, end), sizeBytes)
    return archive.totals
  },
  list: (...parts: Parameters<Archive['list']>) => archive?.list(...parts),
  unpack: (path: string) => archive?.unpack(path),
})
