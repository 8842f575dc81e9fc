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
    <TextVersion title={t('conflict.theirs')} text={theirs} />
    <TextVersion title={t('conflict.mine')} text={mine} />
    <div className="actions end">
      <Button onPress={onClose}>{t('conflict.goOn')}</Button>
      <Button onPress={onTheirs}>{t('conflict.keepTheirs')}</Button>
      <Button look="filled" onPress={onMine}>
        {t('conflict.saveMine')}
      </Button>
    </div>
  </Dialog>
)

const TextVersion = ({ title, text }: { readonly title: string; readonly text: string }) => (
  <section>
    <h3>{title}</h3>
    <p className="plain-text sheet" dir="auto">
      {text === '' ? t('conflict.empty') : text}
    </p>
  </section>
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
