import { type ReactNode, useState } from 'react'
import { Form } from 'react-aria-components/Form'
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components/Modal'
import { t } from '../lib/i18n.ts'
import { messageOf } from '../lib/messages.ts'
import { Button } from './controls.tsx'

interface DialogProps {
  readonly title: string
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly isWide?: boolean
  readonly children: ReactNode
}

/** A modal dialog. The focus returns to its previous element when it closes. */
export const Dialog = ({ title, isOpen, onClose, isWide = false, children }: DialogProps) => (
  <ModalOverlay className="modal-underlay" isOpen={isOpen} onOpenChange={open => open || onClose()} isDismissable>
    <Modal className={isWide ? 'modal wide' : 'modal'}>
      <AriaDialog className="dialog">
        <Heading slot="title" level={2}>
          {title}
        </Heading>
        {children}
      </AriaDialog>
    </Modal>
  </ModalOverlay>
)

interface FormDialogProps extends DialogProps {
  /** A verb: "Create dataset". */
  readonly action: string
  readonly destroys?: boolean
  /** Rejects with the server's error; the dialog then stays open with all input. */
  readonly onSubmit: () => Promise<unknown>
}

/** A dialog with a form, which closes once the server has accepted it. */
export const FormDialog = ({ action, destroys = false, onSubmit, children, ...dialog }: FormDialogProps) => {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<string>()
  const submit = async (): Promise<void> => {
    setBusy(true)
    setError(undefined)
    try {
      await onSubmit()
      dialog.onClose()
    } catch (failure) {
      setError(messageOf(failure))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog {...dialog}>
      <Form
        className="form"
        onSubmit={event => {
          event.preventDefault()
          void submit()
        }}
      >
        {children}
        {error !== undefined && (
          <p role="alert" className="error-text">
            {error}
          </p>
        )}
        <div className="actions end">
          <Button onPress={dialog.onClose}>{t('cancel')}</Button>
          <Button type="submit" look={destroys ? 'destroys' : 'filled'} isPending={isBusy}>
            {action}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}
