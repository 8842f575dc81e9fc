import { onDemand } from '../lib/on-demand.ts'
import type { Chosen } from '../lib/uploads/chosen-files.ts'
import type { UploadTarget } from '../lib/uploads/upload-storage.ts'
import { toastFailure } from './toasts.tsx'
import { needTray } from './upload-button.tsx'

/** Adds files to a dataset through the upload tray, which is loaded after the page has rendered. */
export const addFiles = async (target: UploadTarget, chosen: Chosen): Promise<void> => {
  needTray()
  const tray = await onDemand(() => import('./upload-tray.tsx')).catch(toastFailure)
  await tray?.addFiles(target, chosen)
}
