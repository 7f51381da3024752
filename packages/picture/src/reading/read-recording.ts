import type { Explanation } from '@lamella/core'
import { recordingLines } from '../lines/recording-lines.ts'
import { RecordingReader } from './recording-reader.ts'
import type { RunPicture } from './run-picture.ts'

/** The outermost runs of a recording. */
export function readRecording(recording: string | Explanation): readonly RunPicture[] {
  const reader = new RecordingReader()
  for (const line of recordingLines(recording).lines) reader.add(line)
  return reader.runs
}
