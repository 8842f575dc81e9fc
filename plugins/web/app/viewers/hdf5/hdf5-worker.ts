import { callsThrough } from '../lib/worker-calls.ts'
import { RemoteBytes } from './remote-bytes.ts'
import type { ScientificFile } from './scientific-file.ts'

let file: ScientificFile | undefined

const opened = (): ScientificFile => {
  if (!file) throw new Error('No file is open')
  return file
}

const call = callsThrough(self as unknown as Parameters<typeof callsThrough>[0], {
  open: async (url: string, sizeBytes: number) => {
    const bytes = new RemoteBytes(url, sizeBytes, () => void call('reading'))
    try {
      const isClassic = new TextDecoder('latin1').decode(bytes.read(0, 3)) === 'CDF'
      file = isClassic
        ? (await import('./netcdf3-file.ts')).Netcdf3File.open(bytes)
        : await (await import('./hdf5-file.ts')).Hdf5File.open(bytes)
      // Reading the root detects damaged files.
      file.children('/')
      return file.format
    } catch (error) {
      throw bytes.failure ?? error
    }
  },
  children: (path: string) => opened().children(path),
  describe: (path: string) => opened().describe(path),
  slice: (path: string, ranges: readonly (readonly [number, number])[], isExact: boolean) => opened().slice(path, ranges, isExact),
})
