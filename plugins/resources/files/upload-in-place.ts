import type { Contributions, FileIntake, IncomingFile, InPlaceFiles } from 'pounce/sdk'
import { Invalid } from 'pounce/sdk'

/** A file of the server's own disks, registered to be used where it lies. `Invalid` when no plugin does that. */
export const fileInPlace = async (
  places: Contributions<InPlaceFiles>,
  intake: FileIntake,
  path: string,
  signal: AbortSignal,
): Promise<IncomingFile> => {
  const [place] = places.all()
  if (!place) throw new Invalid('Files cannot be registered by path on this server')
  return { name: intake.nameOf(path.split('/').at(-1) ?? ''), bytes: await place.register(path, signal) }
}
