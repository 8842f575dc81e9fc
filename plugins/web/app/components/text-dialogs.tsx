import { t } from '../lib/i18n.ts'
import { Button } from './controls.tsx'
import { Dialog } from './dialog.tsx'

/** Shows both versions of a text that two people changed; closing it returns to the form. */
export const ConflictDialog = ({
  theirs,
  mine,
  onTheirs,
  onMine,
  onClose,
}: {
  readonly theirs: string
  readonly mine: string
  readonly onTheirs: () => void
  readonly onMine: () => void
  readonly onClose: () => void
}) => (
  <Dialog title={t('conflict.title')} isOpen onClose={onClose}>
    <section>
      <h3>{t('conflict.theirs')}</h3>
      <p className="plain-text sheet" dir="auto">
        {theirs === '' ? t('conflict.empty') : theirs}
      </p>
    </section>
    <section>
      <h3>{t('conflict.mine')}</h3>
      <p className="plain-text sheet" dir="auto">
        {mine === '' ? t('conflict.empty') : mine}
      </p>
    </section>
    <div className="actions end">
      <Button onPress={onClose}>{t('conflict.goOn')}</Button>
      <Button onPress={onTheirs}>{t('conflict.keepTheirs')}</Button>
      <Button look="filled" onPress={onMine}>
        {t('conflict.saveMine')}
      </Button>
    </div>
  </Dialog>
)
