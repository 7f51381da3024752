export { agUiHandler } from './ag-ui/ag-ui-handler.ts'
