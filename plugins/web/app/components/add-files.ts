import type { Chosen } from '../lib/uploads/chosen-files.ts'
import type { UploadTarget } from '../lib/uploads/upload-storage.ts'
import { needTray } from './upload-button.tsx'

/** Adds files to a dataset by way of the tray, which pages do not load before they are drawn. */
export const addFiles = async (target: UploadTarget, chosen: Chosen): Promise<void> => {
  needTray()
  await (await import('./upload-tray.tsx')).addFiles(target, chosen)
}
