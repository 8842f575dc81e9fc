import { type ReactNode, useCallback, useEffect, useRef } from 'react'
import { Form } from 'react-aria-components/Form'
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components/Modal'
import { t } from '../lib/i18n.ts'
import { useAct } from '../lib/use-act.ts'
import { Button } from './controls.tsx'

interface DialogProps {
  readonly title: string
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly isWide?: boolean
  /** Whether a click beside it closes it. */
  readonly isDismissable?: boolean
  readonly children: ReactNode
}

/** A modal dialog. The focus returns to its previous element when it closes. */
export const Dialog = ({ title, isOpen, onClose, isWide = false, isDismissable = true, children }: DialogProps) => (
  <ModalOverlay className="modal-underlay" isOpen={isOpen} onOpenChange={open => open || onClose()} isDismissable={isDismissable}>
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

/**
 * A dialog with a form, which closes once the server has accepted it, and not before: what is being saved cannot be called back. A click beside it, which
 * would discard the input, does not close it, and a reload must be confirmed once something was typed. The back button of the browser does, since it is about the page or folder that is left.
 */
export const FormDialog = ({ action, destroys = false, onSubmit, onClose, children, ...dialog }: FormDialogProps) => {
  const { isBusy, error, run } = useAct()
  const submit = async (): Promise<void> => {
    await onSubmit()
    onClose()
  }
  const close = (): void => {
    if (!isBusy) onClose()
  }
  const isTyped = useRef(false)
  const watch = useCallback((form: HTMLFormElement | null): void => {
    form?.addEventListener('input', () => {
      isTyped.current = true
    })
  }, [])
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent): void => {
      if (isTyped.current) event.preventDefault()
    }
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [])
  const latest = useRef(close)
  latest.current = close
  useEffect(() => {
    const leave = (): void => latest.current()
    window.addEventListener('popstate', leave)
    return () => window.removeEventListener('popstate', leave)
  }, [])
  return (
    <Dialog {...dialog} isDismissable={false} onClose={close}>
      <Form
        ref={watch}
        className="form"
        onSubmit={event => {
          event.preventDefault()
          void run(submit)
        }}
      >
        {children}
        {error !== undefined && (
          <p role="alert" className="error-text">
            {error}
          </p>
        )}
        <div className="actions end">
          <Button onPress={onClose} isDisabled={isBusy}>
            {t('cancel')}
          </Button>
          <Button type="submit" look={destroys ? 'destroys' : 'filled'} isPending={isBusy}>
            {action}
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}
