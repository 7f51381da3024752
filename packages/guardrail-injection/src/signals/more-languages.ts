import type { Phrases } from './foreign-overrides.ts'
import { foreignOverrides } from './foreign-overrides.ts'
import type { InjectionSignal } from './injection-signal.ts'
import { cyrillicStart, lettersOf, normalizedStems, signalsOf } from './injection-signal.ts'

/** Attempts to drop, show or replace a model's own orders, in one language. */
interface Attempts extends Phrases {
  /** Verbs that ask for words. */
  readonly tell: string
  /** The model's own orders. */
  readonly own: string
  /** A new self. */
  readonly now: string
  /** A self without rules. */
  readonly free: string
  /** Verbs that take a limit away. */
  readonly lift: string
  /** The limits of a model. */
  readonly limits: string
}

const greek = '(?<![\\u0370-\\u03ff])'

const attempts: readonly Attempts[] = [
  {
    language: 'da',
    drop: 'ignorer|glem|se bort fra|tilsidesæt|følg ikke|adlyd ikke|spring \\w{0,9} ?over|hør op med at følge',
    orders: 'instruktion|instruks|anvisning|regl|ordre|retningslinje|prompt',
    which: 'tidligere|foregående|forrige|ovenstående|alle|dine|disse|givne',
    said: 'instruktion|instruks|anvisning|regl|ordre|retningslinje|prompt|besked|kontekst|samtale|tekst|opgave|indhold|spørgsmål',
    earlier: 'tidligere|foregående|forrige|ovenstående|ovenfor|oprindelige|hidtil',
    everything:
      'alt,? (?:hvad (?:jeg|du|der)|(?:det )?(?:ovenstående|tidligere)|ovenfor|du har (?:fået|lært))',
    fresh:
      'nye? (?:instruktion|opgave|ordre|regl)\\w{0,4}(?: (?:er|lyder)\\b| ?:)|dine? nye (?:opgave|rolle|instruktion|mål)',
    tell: 'vis|afslør|fortæl|gentag|udskriv|skriv|hvad er|giv mig',
    own: 'system-?(?:prompt|instruktion|besked)|dine (?:\\w{4,12} )?(?:instruktion|instruks|anvisning|regler)|(?:skjulte|oprindelige|hemmelige|interne) (?:instruktion|instruks|prompt)',
    now: 'fra nu af|lad som om|opfør dig som|du er nu|spil rollen',
    free: 'uden (?:nogen )?(?:begrænsning|regler|filtre|censur|restriktion)|ingen (?:begrænsning|regler|restriktion)',
    lift: 'slå|deaktiver|fjern|omgå|ignorer',
    limits:
      'begrænsninger|sikkerheds(?:regl|filt|foranstaltning|protokol)|indholds(?:politik|filt)|censur',
  },
  {
    language: 'no',
    drop: 'ignorer|glem|se bort fra|ikke følg|følg ikke|hopp over|slutt å følge',
    orders: 'instruks|anvisning|regl|ordre|retningslinje|prompt',
    which: 'tidligere|forrige|foregående|ovenstående|alle|dine|disse|gitt',
    said: 'instruks|anvisning|regl|ordre|retningslinje|prompt|melding|kontekst|samtale|tekst|oppgave|innhold|spørsmål',
    earlier: 'tidligere|forrige|foregående|ovenstående|ovenfor|opprinnelige|hittil',
    everything:
      'alt,? (?:(?:som|det) (?:jeg|du|ble|er|har)|jeg har|du har (?:fått|lært)|ovenfor|tidligere)',
    fresh:
      'nye? (?:instruks|oppgave|ordre|regl)\\w{0,5}(?: (?:er|lyder)\\b| ?:)|(?:din|dine) nye (?:oppgave|rolle|instruks|mål)',
    tell: 'vis|avslør|fortell|gjenta|skriv|hva er|gi meg',
    own: 'system-?(?:prompt|instruks|melding)|dine (?:\\w{4,12} )?(?:instruks|anvisning|regler)|(?:skjulte|opprinnelige|hemmelige|interne) (?:instruks|prompt)',
    now: 'fra nå av|lat som|oppfør deg som|du er nå|spill rollen',
    free: 'uten (?:noen )?(?:begrensning|regler|filtre|sensur|restriksjon)|ingen (?:begrensning|regler|restriksjon)',
    lift: 'slå av|deaktiver|fjern|omgå|ignorer',
    limits:
      'begrensninger|sikkerhets(?:regl|filt|tiltak|protokoll)|innholds(?:policy|filt|regl)|sensur',
  },
  {
    language: 'fi',
    drop: 'jätä (?:\\w{1,16} ){0,4}huomi|unohda|sivuuta|ohita|älä (?:noudata|välitä|ota huomioon|seuraa|tottele)|lakkaa noudattamasta',
    orders: 'ohje|sääntö|käsky|määräy|komento|kehot|prompt',
    which: 'aiem|edelli|yllä|kaikki|kaikkia|sinulle|sinun|annet|nämä|näitä',
    said: 'ohje|sääntö|käsky|määräy|kehot|prompt|viesti|viestej|konteksti|keskustelu|teksti|tehtäv|pyyn|sisältö|kysymy',
    earlier: 'aiem|edelli|yllä|alkuperäi|tähänasti',
    everything:
      'kaik(?:ki|en),? (?:mitä (?:sinulle|sanoin|olen|yllä|on)|aiempi|aiemman|edellinen|edellisen|yllä ole|tähän asti)',
    fresh:
      'uu(?:si|det) (?:ohje|tehtäv|sääntö|säännö|käsky)\\w{0,5}(?: (?:on|ovat)\\b| ?:)|uusi (?:tehtäväsi|roolisi|tavoitteesi)|uudet ohjeesi',
    tell: 'näytä|paljasta|kerro|toista|tulosta|kirjoita|mikä on|mitkä ovat|anna',
    own: 'järjestelmä(?:kehot|ohje|viesti|prompt)|(?:alkuperäi|salai|piilot|sisäi)\\w{2,6} (?:ohje|säännö|kehot)|(?:ohjeesi|ohjeitasi|ohjeistuksesi|sääntösi|kehotteesi)\\b',
    now: 'tästä lähtien|teeskentele|esitä (?:olevasi|että)|olet nyt|käyttäydy kuin|näyttele',
    free: 'ilman (?:mitään )?(?:rajoituksia|sääntöjä|suodattimia|sensuuria)',
    lift: 'poista|kytke|ohita|kierrä|sivuuta',
    limits:
      'rajoitukse|turvallisuus(?:säännö|sääntö|ohje|suodat|protokol|toim)|sisältö(?:käytän|suodat)|sensuuri|turvasuodat',
  },
  {
    language: 'cs',
    drop: 'ignoruj|zapomeň|zapomeňte|nedodržuj|neřiď|nedbej|neposlouchej|odhoď|přestaň (?:dodržovat|se řídit)',
    orders: 'pokyn|instrukc|pravid|příkaz|nařízení|směrnic|prompt',
    which: 'předchoz|předešl|dřívějš|výše|všechn|všech|svoje|své|tvoje|tvé|dosavadn|původn|tyto',
    said: 'pokyn|instrukc|pravid|příkaz|prompt|zpráv|kontext|konverzac|rozhovor|text|úkol|požadav|obsah|otáz',
    earlier: 'předchoz|předešl|dřívějš|výše|původn|dosavadn|dosud',
    everything:
      '(?:vše|všechno|všeho|na vše),? (?:co (?:jsem|ti|bylo|jsi|je výše|se výše)|výše|předchozí)',
    fresh:
      'nov[áéý] (?:pokyn|instrukc|úkol|pravid|příkaz)\\w{0,3}(?: (?:je|jsou|zní)\\b| ?:)|(?:tvůj|tvoje|tvá) nov[áéý] (?:úkol|role|instrukc|cíl)',
    tell: 'ukaž|prozraď|odhal|řekni|vypiš|zopakuj|napiš|jak[éý] (?:jsou|je|máš)|zobraz',
    own: 'systémov\\w{1,3} (?:prompt|pokyn|instrukc|zpráv)|(?:své|svoje|tvé|tvoje|svůj|tvůj) (?:\\w{5,12} )?(?:pokyn|instrukc|pravidl|prompt)|(?:původn|skryt|tajn|interní)\\w{0,3} (?:pokyn|instrukc|prompt)',
    now: 'od (?:teď|nynějška)|předstírej|chovej se jako|nyní jsi|teď jsi|hraj roli',
    free: 'bez (?:jakýchkoli |jakýchkoliv |žádných )?(?:omezení|pravidel|filtrů|cenzury)',
    lift: 'vypni|deaktivuj|zruš|odstraň|obejdi|ignoruj',
    limits:
      'omezení|bezpečnostní (?:opatření|pravidl|filtr|protokol)|cenzur|zásady obsahu|filtr\\w{0,2} obsahu',
  },
  {
    language: 'sk',
    drop: 'ignoruj|zabudni|nedodržiavaj|neriaď|nedbaj|nepočúvaj|prestaň (?:dodržiavať|sa riadiť)',
    orders: 'pokyn|inštrukci|pravid|príkaz|smernic|prompt',
    which: 'predchádzajúc|predošl|vyššie|všetk|svoje|tvoje|doterajš|pôvodn|tieto',
    said: 'pokyn|inštrukci|pravid|príkaz|prompt|správ|kontext|konverzáci|rozhovor|text|úloh|požiadav|obsah|otáz',
    earlier: 'predchádzajúc|predošl|vyššie|pôvodn|doterajš|doteraz',
    everything:
      '(?:všetko|všetkého|na všetko),? (?:čo (?:som|ti|bolo|si|je vyššie)|vyššie|predchádzajúce)',
    fresh:
      'nov[áéý] (?:pokyn|inštrukci|úloh|pravid|príkaz)\\w{0,3}(?: (?:je|sú|znie)\\b| ?:)|(?:tvoja|tvoje|tvoj) nov[áéý] (?:úloh|rola|inštrukci|cieľ)',
    tell: 'ukáž|prezraď|odhaľ|povedz|vypíš|zopakuj|napíš|ak[éý] (?:sú|je|máš)|zobraz',
    own: 'systémov\\w{1,3} (?:prompt|pokyn|inštrukci|správ)|(?:svoje|tvoje|svoj|tvoj) (?:\\w{5,12} )?(?:pokyn|inštrukci|pravidl|prompt)|(?:pôvodn|skryt|tajn|intern)\\w{0,3} (?:pokyn|inštrukci|prompt)',
    now: 'odteraz|predstieraj|správaj sa ako|teraz si|hraj rolu',
    free: 'bez (?:akýchkoľvek |žiadnych )?(?:obmedzení|pravidiel|filtrov|cenzúry)',
    lift: 'vypni|deaktivuj|zruš|odstráň|obíď|ignoruj',
    limits: 'obmedzenia|bezpečnostn[éý] (?:opatreni|pravidl|filtr|protokol)|cenzúr|zásady obsahu',
  },
  {
    language: 'hu',
    drop: 'hagyd figyelmen kívül|felejtsd el|felejts el|ne (?:kövesd|vedd figyelembe|törődj|tartsd be)|mellőzd',
    orders: 'utasítás|szabály|parancs|útmutatás|irányelv|előírás|prompt',
    which: 'előző|korábbi|fenti|összes|minden|eddigi|eredeti|kapott|ezeket',
    said: 'utasítás|szabály|parancs|útmutatás|prompt|üzenet|kontextus|beszélgetés|szöveg|feladat|kérés|tartalm|kérdés',
    earlier: 'előző|korábbi|fenti|eddigi|eredeti|korábban',
    everything:
      'minden(?:t|ről)?,? (?:amit? (?:eddig|mondt|korábban|fent|tanult)|eddigit|korábbit|fentit)',
    fresh:
      'új (?:utasítás|feladat|szabály|parancs)\\w{0,4} ?:|az? új (?:feladatod|szereped|célod|utasításod)',
    tell: 'mutasd|áruld el|mondd el|mondd meg|ismételd|írd ki|írd le|nyomtasd|mik? (?:a|az)|add ki',
    own: 'rendszer(?:prompt|utasítás|üzenet)|(?:saját|eredeti|titkos|rejtett|kezdeti|belső) (?:utasítás|prompt|szabály)|(?:utasításaid|promptod|szabályaid)\\w{0,3}\\b',
    now: 'mostantól|tegyél úgy|viselkedj úgy|játszd el|színleld',
    free: '(?:korlátozás|szabály|korlát|szűrő)\\w{0,3} nélkül|cenzúra nélkül|nincsenek (?:korlát|szabály)\\w{0,5}',
    lift: 'kapcsold ki|tiltsd le|távolítsd el|kerüld meg|iktasd ki',
    limits:
      'korlátozás|biztonsági (?:szabály|intézked|szűrő|protokoll)|cenzúr|tartalmi (?:irányelv|szabály)',
  },
  {
    language: 'ro',
    drop: 'ignor[aă]|uită|uitați|nu (?:respecta|urma|ține cont|lua în considerare|asculta)|lasă deoparte|încetează să (?:urmezi|respecți)',
    orders: 'instrucțiun|indicați|regul|ordin|comenzi|directiv|prompt',
    which: 'anterioar|precedent|de mai sus|toate|tale|primit|inițial|aceste',
    said: 'instrucțiun|indicați|regul|ordin|prompt|mesaj|context|conversați|text|sarcin|cerer|conținut|întreb',
    earlier: 'anterioar|precedent|de mai sus|mai devreme|inițial|original|până acum',
    everything: 'tot(?:ul)?,? (?:ce (?:ți-am|am|ți s-a|s-a|este mai|a fost)|de mai sus|ceea ce)',
    fresh:
      'no(?:ua|ile|i|uă) (?:instrucțiun|sarcin|regul|ordin)\\w{0,4}(?: (?:este|sunt)\\b| ?:)|noua ta (?:sarcin|misiun|instrucțiun)|noul tău (?:rol|scop|obiectiv)',
    tell: 'arată|dezvăluie|spune|repetă|afișează|scrie|tipărește|care (?:sunt|este)|dă-mi',
    own: 'prompt(?:ul)? (?:tău|de sistem|sistemului|inițial)|instrucțiuni(?:le)? (?:tale|de sistem|sistemului|inițiale|ascunse|secrete|originale|interne)|regulile tale|mesajul de sistem',
    now: 'de acum (?:înainte|încolo)|prefă-te|comportă-te ca|acum ești|joacă rolul',
    free: 'fără (?:nicio |niciun |nici o )?(?:restricți|limite|reguli|filtr|cenzur)\\w{0,3}',
    lift: 'dezactivează|oprește|elimină|ocolește|ignoră',
    limits:
      'restricțiil|(?:regul|măsur|filtr|protocoal)\\w{0,6} de (?:siguranță|securitate)|cenzur|politic\\w{0,3} de conținut|filtr\\w{0,4} de conținut',
  },
  {
    language: 'el',
    drop: 'αγνόησε|αγνοήστε|ξέχνα|ξεχάστε|παράβλεψε|μην (?:ακολουθ|λάβεις|υπακού|λαμβάν)|σταμάτα να ακολουθ|παράκαμψε',
    orders: 'οδηγί|εντολ|κανόν|υποδείξ|κατευθύν|prompt',
    which: 'προηγούμεν|παραπάνω|όλες|όλους|όλα|σου|αρχικ|αυτές',
    said: 'οδηγί|εντολ|κανόν|μήνυμα|μηνύματ|συζήτησ|συνομιλί|κείμεν|εργασί|αίτημα|αιτήματ|περιεχόμεν|ερωτήσ',
    earlier: 'προηγούμεν|παραπάνω|αρχικ|μέχρι τώρα',
    everything: 'όλα όσα|ό,?τι (?:σου|είπα|ειπώθηκε|γράφει)|(?:όλα )?τα (?:παραπάνω|προηγούμενα)',
    fresh:
      'νέ(?:α|ες|ο|ος|οι) (?:οδηγί|εντολ|εργασί|κανόν|αποστολ)[\\u0370-\\u03ff]{0,4} ?:|νέ(?:α|ος|ες) σου (?:εργασί|αποστολ|ρόλ|στόχ|οδηγί|εντολ)',
    tell: 'δείξε|αποκάλυψε|πες|επανάλαβε|εκτύπωσε|γράψε|ποι[εα]ς? είναι|εμφάνισε|δώσε',
    own: '(?:οδηγίες|εντολές|μήνυμα|προτροπή|prompt) (?:του )?συστήματος|(?:αρχικ|κρυφ|μυστικ|εσωτερικ)[\\u0370-\\u03ff]{1,3} (?:σου )?(?:οδηγί|εντολ|prompt)|(?:οδηγίες|εντολές|κανόνες) σου',
    now: 'από (?:τώρα|εδώ) και (?:πέρα|στο εξής)|στο εξής|προσποιήσου|κάνε πως|τώρα είσαι|παίξε τον? ρόλο|συμπεριφέρσου σαν',
    free: 'χωρίς (?:κανέναν? |καμία )?(?:περιορισμ|κανόν|φίλτρ|λογοκρισί)',
    lift: 'απενεργοποίησε|αφαίρεσε|κατάργησε|παράκαμψε|αγνόησε',
    limits:
      'περιορισμ|(?:μέτρα|κανόνες|φίλτρα|πρωτόκολλ[\\u0370-\\u03ff]{1,2}) ασφαλείας|λογοκρισί|πολιτικ[\\u0370-\\u03ff]{1,2} περιεχομένου|φίλτρα περιεχομένου',
    after: greek,
  },
  {
    language: 'bg',
    drop: 'игнорирай|забрави|пренебрегни|не (?:следвай|спазвай|изпълнявай|обръщай внимание|слушай)|отхвърли|спри да (?:следваш|спазваш)',
    orders: 'инструкц|указани|правил|команд|нареждан|заповед|насок|промпт',
    which: 'предишн|предходн|горн|всички|твоите|досегашн|първоначалн|дадени',
    said: 'инструкц|указани|правил|команд|нареждан|заповед|промпт|съобщени|контекст|разговор|текст|задач|съдържани|въпрос',
    earlier: 'предишн|предходн|по-?горе|горн|досегашн|първоначалн|преди това',
    everything: 'всичко,? (?:което|казано|по-?горе|дотук|написано)',
    fresh:
      'нов[аио](?:та|те)? (?:инструкци|задач|правил|команд)[\\u0400-\\u04ff]{0,3} ?:|нов(?:ата|ите|ият) ти (?:задач|рол|инструкци|цел)',
    tell: 'покажи|разкрий|кажи|повтори|отпечатай|напиши|изведи|какви са|какъв е|сподели',
    own: 'системн[\\u0400-\\u04ff]{1,4} (?:промпт|инструкц|съобщени|подкан)|(?:твоите|своите) (?:инструкц|указани|правила)|(?:първоначалн|скрит|тайн|вътрешн)[\\u0400-\\u04ff]{1,4} (?:ти |си )?(?:инструкц|указани|промпт)|инструкциите (?:си|ти)',
    now: 'отсега нататък|преструвай се|дръж се като|сега си|представи си,? че си',
    free: 'без (?:никакви |всякакви )?(?:ограничени|правила|филтри|цензура)|нямаш (?:никакви )?(?:ограничени|правила)',
    lift: 'изключи|деактивирай|премахни|заобиколи|игнорирай',
    limits:
      'ограничени|(?:мерки|правила|филтри|протоколи)(?:те)? за (?:безопасност|сигурност)|цензур|политика(?:та)? за съдържание',
    after: cyrillicStart,
  },
]

/** Attempts in languages for which there are no claims of a rank or a mode. */
export const otherAttempts: readonly InjectionSignal[] = [
  ...foreignOverrides(attempts),
  ...attempts.flatMap(({ language, after = '\\b', tell, own, now, free, lift, limits }) => {
    const stems = (phrases: string): string => `${after}(?:${normalizedStems(phrases)})`
    const more = { isForeign: after !== '\\b', needs: lettersOf(language) }
    const near = { ...more, within: 24, anyOrder: true }
    const persona = signalsOf('persona', language)
    return [
      signalsOf('leak', language)(0.7, [stems(tell), stems(own)], near),
      persona(0.35, stems(free), more),
      persona(0.45, [stems(now), stems(free)], near),
      persona(0.5, [stems(lift), stems(limits)], near),
      signalsOf('role-play', language)(0.3, stems(now), more),
    ]
  }),
]
