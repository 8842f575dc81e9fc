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

/** Asks before a page with an unsaved text is left; closing it stays on the page. */
export const LeaveDialog = ({
  label,
  onStay,
  onDiscard,
}: {
  /** What the text is, such as "Description". */
  readonly label: string
  readonly onStay: () => void
  readonly onDiscard: () => void
}) => (
  <Dialog title={t('unsaved.title')} isOpen onClose={onStay}>
    <p>{t('unsaved.text', { label })}</p>
    <div className="actions end">
      <Button onPress={onDiscard}>{t('unsaved.discard')}</Button>
      <Button look="filled" onPress={onStay}>
        {t('conflict.goOn')}
      </Button>
    </div>
  </Dialog>
)
