import type { InjectionSignal } from './injection-signal.ts'
import { normalizedStems, signalsOf } from './injection-signal.ts'

/** Words of one language for dropping instructions. They are stems, because endings follow. */
interface Phrases {
  readonly language: string
  readonly drop: string
  readonly orders: string
  /** Words that tell a model's own orders from those on a packet of soup. */
  readonly which: string
  /** Pattern in front of a stem. @default the start of a Latin word */
  readonly after?: string
}

const phrases: readonly Phrases[] = [
  {
    language: 'es',
    drop: 'ignor[ae]|olvid[ae]|descart[ae]|desatiend|omit[ae]|pas[ae] por alto|haz caso omiso|no (?:sigas|hagas caso|obedezcas)',
    orders: 'instruccion|indicacion|regla|orden|directriz|directrices|mandato|restriccion',
    which: 'anterior|previa|tus|sus|toda|todo|dad[ao]s|inicial|recibid|de arriba|esas|estas',
  },
  {
    language: 'fr',
    drop: 'ignore|oublie|neglige|fai(?:s|tes) abstraction|ne (?:suis|suivez|tiens|tenez|respecte)|passe(?:z)? outre|contourne',
    orders: 'instruction|consigne|regle|directive|ordre|indication|restriction|contrainte',
    which: 'precedent|anterieur|vos|tes|tout|recu|donne|initial|ci-dessus|ces|avant',
  },
  {
    language: 'de',
    drop: 'ignorier|vergiss|vergess|missacht|ubergeh|uberspring|verwirf|befolge (?:nicht|keine)|beachte (?:nicht|keine)|lass',
    orders:
      'anweisung|instruktion|vorgabe|regel|befehl|richtlinie|aufforderung|einschrankung|anleitung|auftrag',
    which:
      'vorherig|bisherig|vorangegangen|vorig|obig|alle|deine|ihre|fruher|ursprunglich|gegeben|diese|davor|zuvor',
  },
  {
    language: 'it',
    drop: 'ignor[aio]|dimentica|trascura|tralascia|scorda|non seguire|disattendi',
    orders: 'istruzion|indicazion|regol|comand|direttiv|ordin|restrizion',
    which: 'precedent|anterior|tue|tuoi|tutt|sopra|ricevut|dat[ei]|inizial|queste|vostr',
  },
  {
    language: 'pt',
    drop: 'ignor[ae]|esquec|esqueca|desconsider|desprez|nao (?:siga|sigas|obedeca)',
    orders: 'instruc|instruco|regra|orientaco|comando|diretriz|ordem|ordens|indicaco|restrico',
    which: 'anterior|previa|suas|tuas|seus|toda|todo|acima|dada|recebid|inicia|essas|estas',
  },
  {
    language: 'nl',
    drop: 'negeer|vergeet|sla over|let niet op|volg niet',
    orders: 'instructie|opdracht|regel|aanwijzing|richtlijn|bevel',
    which: 'vorige|eerdere|bovenstaande|voorgaande|alle|jouw|je |uw|deze',
  },
  {
    language: 'sv',
    drop: 'ignorera|glom|bortse fran|folj inte|strunta i',
    orders: 'instruktion|regler|anvisning|direktiv|order',
    which: 'tidigare|foregaende|alla|dina|ovan|de har',
  },
  {
    language: 'pl',
    drop: 'zignoruj|ignoruj|zapomnij|pomin|odrzuc|nie przestrzegaj',
    orders: 'instrukcj|polecen|zasad|regul|wytyczn|rozkaz|nakaz',
    which: 'poprzedni|wczesniejsz|powyzsz|wszystki|swoi|twoj|dotychczasow',
  },
  {
    language: 'ru',
    drop: '(?:про)?игнорируи|забуд|отбрось|отмени|не (?:следуи|обращаи)|пренебрег',
    orders: 'инструкц|указан|правил|команд|предписан|распоряжен|все,? что|ограничен',
    which: 'предыдущ|прежн|прошл|выше|все|твои|ваши|свои|эти|тебе|вам|раньше|до этого',
    after: '(?<![\\u0400-\\u04ff])',
  },
  {
    language: 'uk',
    drop: '(?:про)?ігноруи|забуд|відкинь|не (?:дотримуи|слідуи|зважаи)',
    orders: 'інструкц|вказівк|правил|команд|настанов',
    which: 'попередн|минул|вище|всі|усі|твої|ваші|свої|ці',
    after: '(?<![\\u0400-\\u04ff])',
  },
  {
    language: 'tr',
    drop: 'gormezden gel|yok say|unut|dikkate alma|goz ard[iı] et|ihmal et|onemseme',
    orders: 'talimat|yonerge|kural|komut|yonlendirme|emir|emr|soylenen',
    which: 'onceki|tum|butun|yukar[iı]|senin|size|sana|[iı]n[iı]z|her|verilen|lar[iı]|leri',
  },
  {
    language: 'vi',
    drop: 'bo qua|phot lo|quen|lo đi|mac ke|đung (?:tuan|lam) theo',
    orders: 'huong dan|chi dan|lenh|quy tac|chi thi|yeu cau|quy đinh',
    which: 'truoc|tren|tat ca|moi|cua ban|đa (?:cho|đuoc)|cu|đo|nhung',
  },
  {
    language: 'id',
    drop: 'abaikan|lupakan|hiraukan|acuhkan|kesampingkan|jangan (?:ikuti|patuhi)',
    orders: 'instruksi|perintah|petunjuk|aturan|arahan|peraturan|yang telah',
    which: 'sebelum|terdahulu|di atas|semua|segala|anda|kamu|mu\\b|awal|telah',
  },
  {
    language: 'tl',
    drop: 'huwag (?:mo |mong |ninyong |nang )?pansinin|balewalain|kalimutan|ipagwalang|isantabi',
    orders: 'tagubilin|utos|instruksyon|instruction|panuntunan|tuntunin|patakaran|sinabi',
    which: 'nakara|nauna|lahat|iyong|mong|mo\\b|dati|dating|mga|itaas|sayo',
  },
  {
    language: 'ar',
    drop: 'تجاهل|انس|أنس|اهمل|أهمل|تناس|لا تتبع',
    orders: 'تعليمات|التعليمات|الاوامر|الأوامر|القواعد|الارشادات|الإرشادات|التوجيهات|اوامر|قواعد',
    which: 'السابق|سابق|جميع|كل|اعلاه|أعلاه|ك\\b|تعليماتك|قواعدك',
    after: '',
  },
  {
    language: 'fa',
    drop: 'نادیده|فراموش|بی.?توجه|رد کن',
    orders: 'دستور|قوانین|راهنما|فرمان',
    which: 'قبلی|پیشین|تمام|همه|بالا|خود',
    after: '',
  },
  {
    language: 'he',
    drop: 'התעלם|התעלמ|שכח',
    orders: 'הוראות|ההוראות|כללים|הכללים|הנחיות|ההנחיות|פקודות',
    which: 'קודמ|כל|שלך|לעיל|הקודמ',
    after: '',
  },
  {
    language: 'hi',
    drop: 'अनदेखा|अनदेखी|नजरअंदाज|नज़रअंदाज|भूल|उपेक्षा|अवहेलना|अनसुना|ध्यान न द|परवाह किए बिना',
    orders: 'निर्देश|आदेश|नियम|हिदायत|बताया गया|कार्यों',
    which: 'पिछल|पहले|सभी|अपने|सब|उपरोक्त|आपको|ऊपर|पूर्व',
    after: '',
  },
  {
    language: 'bn',
    drop: 'উপেক্ষা|ভুলে যা|ভুলে যাও|ভুলুন|অগ্রাহ্য|অমান্য',
    orders: 'নির্দেশ|নিয়ম|আদেশ|বলা হয়েছে|নিয়ম',
    which: 'আগের|পূর্ব|সব|সমস্ত|আপনার|তোমার|আপনাকে|উপরের',
    after: '',
  },
  {
    language: 'th',
    drop: 'เพิกเฉย|ละเว้น|ไม่สนใจ|ลืม|ไม่ต้องสนใจ|มองข้าม',
    orders: 'คำสั่ง|คำแนะนำ|กฎ|ข้อบังคับ|แนวทาง',
    which: 'ก่อนหน้า|ทั้งหมด|ข้างต้น|ของคุณ|เดิม|ที่ได้รับ',
    after: '',
  },
  {
    language: 'zh',
    drop: '忽略|忽视|忽視|无视|無視|忘记|忘記|忘掉|不要理会|不理会|不要遵守|不必遵守|抛开|拋開|跳过|绕过|放弃',
    orders: '指示|指令|说明|說明|规则|規則|提示|命令|要求|设定|設定|限制|内容|對話|对话',
    which:
      '之前|以前|先前|上面|上述|前面|此前|所有|一切|全部|你的|您的|任何|原来|原本|系统|系統|现有',
    after: '',
  },
  {
    language: 'ja',
    drop: '無視|忘れ|破棄|従わない|従う必要は|無効に',
    orders: '指示|命令|ルール|規則|プロンプト|指令|説明|制約|設定',
    which: '以前|前の|これまで|すべて|全て|上記|先ほど|あなたの|今まで|元の|いままで|直前|前述',
    after: '',
  },
  {
    language: 'ko',
    drop: '무시|잊어|잊으|무효|따르지 마|무시하',
    orders: '지시|명령|규칙|지침|설명|프롬프트|제한|안내',
    which: '이전|모든|위의|앞의|앞선|기존|당신|너의|지금까지|받은|전의',
    after: '',
  },
]

/**
 * Attempts to replace the instructions of the model, in other languages: the verb, its object and
 * the attribute of the object, near each other, in the order of the language.
 */
export const foreignSignals: readonly InjectionSignal[] = phrases.map(
  ({ language, drop, orders, which, after = '\\b' }) => {
    const parts = [drop, orders, which].map((stems) => `${after}(?:${normalizedStems(stems)})`)
    // Of languages with letters of their own.
    const isForeign = after !== '\\b'
    return signalsOf('override', language)(0.8, parts, { anyOrder: true, isForeign })
  },
)
