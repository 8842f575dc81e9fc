import { useEffect } from 'react'
import { t } from '../lib/i18n.ts'
import { createStore, useStore } from '../lib/store.ts'
import { storedBatches } from '../lib/uploads/upload-storage.ts'
import { Button } from './controls.tsx'
import { late } from './late.tsx'

/** Whether the tray is on the page; it is loaded when there is something to show. */
const tray = createStore<'absent' | 'present' | 'opened'>('absent')

export const needTray = (): void => {
  if (tray.get() === 'absent') tray.set('present')
}

const UploadTray = late(async () => (await import('./upload-tray.tsx')).UploadTray)

/** For users who can upload: the button of the tray, until the tray renders its own. */
export const UploadButton = ({ user }: { readonly user: string }) => {
  const state = useStore(tray)
  useEffect(() => {
    void storedBatches().then(batches => batches.some(batch => batch.user === user) && needTray())
  }, [user])
  const button = (
    <Button look="quiet" aria-expanded={false} onPress={() => tray.set('opened')}>
      {t('uploads.title')}
    </Button>
  )
  return state === 'absent' ? button : <UploadTray isOpened={state === 'opened'} fallback={button} />
}
