import type { Claims } from './claims.ts'
import { claimSignals } from './claims.ts'
import type { InjectionSignal } from './injection-signal.ts'

const claims: readonly Claims[] = [
  {
    language: 'de',
    mode: '(?:entwickler|administrator|admin|gott|debug|wartungs|root|test|diagnose|jailbreak)[- ]?modus|modus ohne (?:einschrankung|regel|filter|grenze)|uneingeschrankte\\w{0,4} modus|(?:system|super-?user|override|notfall|zugriffs|service|entsperrt\\w{0,2})[- ]?modus',
    enter: 'aktivier|wechsle|wechsel|starte|schalte|betritt|gehe in|du bist (?:jetzt )?im',
    master:
      '(?:ich bin|hier (?:ist|spricht)|als) (?:dein|deine|ihr|der) (?:entwickler|schopfer|administrator|programmierer|chef|besitzer|betreiber)|(?:befehl|nachricht|hinweis) (?:des|vom) (?:administrator|system|entwickler)',
    tell: 'zeig|verrat|gib|nenn|sag mir|druck|wiederhol|schreib|offenbar|wie laute|was (?:sind|ist|steht)|teile mir',
    orders:
      'system[- ]?prompt|(?:deine|ihre|deinen|ihren|dein) (?:anweisung|instruktion|regel|prompt|vorgabe|richtlinie)|(?:ursprungliche|geheime|interne|versteckte|anfangliche)\\w{0,4} (?:anweisung|instruktion|prompt|vorgabe)|system(?:anweisung|nachricht|instruktion)',
    free: 'ohne (?:jede |jegliche |irgendwelche )?(?:einschrankung|beschrankung|grenze|filter|zensur|ethik|regel)|keine (?:einschrankung|beschrankung|grenze|filter|regel)',
    now: '(?:jetzt|nun|ab (?:jetzt|sofort)|von nun an)[ ,]{1,2}(?:bist|antwortest|spielst|heisst|handelst) du|du bist (?:jetzt|nun|ab sofort)|tu so,? als|verhalte dich wie|ab (?:jetzt|sofort)|von nun an|stell dir vor,? du hattest',
    reader:
      '(?:wenn|falls|sofern) du eine? (?:ki|kunstliche intelligenz|sprachmodell|chatbot|assistent)|(?:hinweis|nachricht|anweisung\\w{0,4}|mitteilung) (?:fur|an) (?:die |den |das |alle )?(?:ki|sprachmodell|assistent|chatbot)',
    rank: '(?:ich bin|hier (?:ist|spricht)|wir sind|als) (?:der |die |das |ein |eine )?(?:neuer? )?(?:system)?(?:administrator|entwickler|schopfer|eigentumer|superuser|geschaftsfuhrer|betreiber|sicherheits(?:team|beauftragte)|it-abteilung|entwicklungsteam)',
    secret:
      'passwort|geheimnis|geheime[nrs]? (?:schlussel|wort|code|information)|zugangsdaten|kennwort|vertrauliche\\w{0,2} (?:information|daten)|geheimwort|losungswort',
    lift: 'deaktivier|entfern|aufheb|aufgehoben|entsperr|umgeh|abschalt|ausschalt|ignorier|missacht|ubergeh',
    limits:
      'einschrankung|beschrankung|schutz(?:mass|vorkehr|mechanism)|sicherheits(?:mass|protokoll|richtlini|vorkehr|kontroll|filter|sperre)|zensur|(?:inhalts|nutzungs|content)[- ]?(?:richtlinie|policy)|sicherheits(?:filter|vorgabe|regel)',
    permit:
      '(?:du hast|sie haben|ich gebe dir|ich erteile dir) (?:die |meine |jetzt )?(?:erlaubnis|genehmigung|berechtigung|zugriff|befugnis)|(?:du bist|sie sind) (?:jetzt |nun |hiermit )?(?:berechtigt|befugt|autorisiert|ermachtigt)|zugriff (?:gewahrt|erteilt)|du darfst (?:jetzt|nun|mir)',
    changed:
      '(?:anweisungen|regeln|vorgaben|richtlinien|befehle) (?:gelten nicht|sind (?:nicht mehr|aufgehoben|ungultig|hinfallig|veraltet)|wurden (?:geandert|aufgehoben|aktualisiert)|haben sich geandert)',
    hush: '(?:sag|erzahl|verrat|teile|informier|erwahn)\\w{0,2} (?:es |das |dies )?(?:dem|den|der|gegenuber dem) (?:nutzer|benutzer|anwender)\\w{0,2} (?:nicht|nichts|davon nichts|nie)|ohne (?:den|dem) (?:nutzer|benutzer|anwender)',
  },
  {
    language: 'nl',
    mode: '(?:ontwikkelaars?|beheerders?|admin|god|debug|onderhouds|root|test|jailbreak)[- ]?modus|modus zonder (?:beperking|regels|filter|limiet)|(?:systeem|superuser|nood|toegangs|override)[- ]?modus',
    enter: 'activeer|schakel|start|ga naar|ga in|je bent (?:nu )?in',
    master:
      '(?:ik ben|hier is|als) (?:je|jouw|uw|de) (?:ontwikkelaar|maker|beheerder|programmeur|baas|eigenaar)|(?:bevel|bericht|melding) van de (?:beheerder|systeem|ontwikkelaar)',
    tell: 'toon|onthul|geef|vertel|print|herhaal|schrijf|laat|wat (?:zijn|is)|deel',
    orders:
      'systeem ?prompt|(?:je|jouw|uw) (?:instructie|regels|prompt|richtlijn)|(?:oorspronkelijke|geheime|interne|verborgen|eerste) (?:instructie|prompt|opdracht)|systeem(?:instructie|bericht)',
    free: 'zonder (?:enige )?(?:beperking|limiet|filter|censuur|ethiek|regels)|geen (?:enkele )?(?:beperking|limiet|filter|regels)',
    now: '(?:nu|vanaf nu|voortaan)[ ,]{1,2}ben je|je bent (?:nu|vanaf nu)|doe alsof|gedraag je als|vanaf nu|voortaan',
    reader:
      'als (?:je|u) een (?:ai|kunstmatige intelligentie|taalmodel|chatbot)|(?:opmerking|bericht|instructies?) voor (?:de |het )?(?:ai|taalmodel|assistent|chatbot)',
    rank: '(?:ik ben|hier is|wij zijn|als) (?:de |het |een )?(?:nieuwe )?(?:systeem)?(?:beheerder|ontwikkelaar|maker|eigenaar|superuser|directeur|beveiligings(?:team|medewerker)|ontwikkelteam)',
    secret:
      'wachtwoord|geheime (?:sleutel|code|woord)|inloggegevens|vertrouwelijke (?:informatie|gegevens)',
    lift: 'deactiveer|verwijder|ontgrendel|omzeil|annuleer|negeer',
    limits:
      'beperking|veiligheids(?:maatregel|protocol|filter)|beveiligings(?:maatregel|protocol)|censuur|(?:inhouds|content|gebruiks)[- ]?(?:beleid|richtlijn)|veiligheids(?:richtlijn|regel)',
    permit:
      '(?:je hebt|u heeft|ik geef je) (?:de |mijn |nu )?(?:toestemming|toegang|bevoegdheid)|(?:je bent|u bent) (?:nu )?(?:bevoegd|gemachtigd|geautoriseerd)|toegang verleend|je mag (?:nu|me|mij)',
    changed:
      '(?:instructies|regels|opdrachten|richtlijnen) (?:gelden niet|zijn (?:niet meer|vervallen|gewijzigd|ongeldig|veranderd))',
    hush: '(?:vertel|zeg|meld)\\w{0,2} (?:dit |het |niets )?(?:niet )?(?:aan |tegen )?de gebruiker\\w{0,2} (?:niet|niets)|zonder (?:dat )?de gebruiker',
  },
  {
    language: 'sv',
    mode: '(?:utvecklar|administrators?|admin|gud|debug|underhalls|root|test|jailbreak)[- ]?lage|lage utan (?:begransning|regler|filter)|(?:system|superanvandar|nod|atkomst|override)[- ]?lage',
    enter: 'aktivera|byt till|vaxla|starta|ga (?:in )?i|du ar (?:nu )?i',
    master:
      '(?:jag ar|har ar|som) (?:din|er|den) (?:utvecklare|skapare|administrator|programmerare|chef|agare)|(?:order|meddelande) fran (?:administrator|systemet|utvecklar)',
    tell: 'visa|avsloja|ge mig|beratta|skriv ut|upprepa|skriv|vad (?:ar|var)|dela',
    orders:
      'system ?prompt|(?:din|dina) (?:instruktion|regler|prompt|riktlinj)|(?:ursprungliga|hemliga|interna|dolda) (?:instruktion|prompt)|systeminstruktion',
    free: 'utan (?:nagra |alla )?(?:begransning|restriktion|filter|censur|etik|regler)|inga (?:begransning|restriktion|filter|regler)',
    now: '(?:nu|fran och med nu|hadanefter)[ ,]{1,2}ar du|du ar (?:nu|fran och med nu)|lats(?:as)? (?:som|att)|agera som|fran och med nu|hadanefter',
    reader:
      'om du ar en (?:ai|artificiell intelligens|sprakmodell|chattbot)|(?:meddelande|instruktion\\w{0,4}) (?:till|for) (?:ai|sprakmodell|assistent)',
    rank: '(?:jag ar|har ar|vi ar|som) (?:den |en )?(?:nya )?(?:system)?(?:administrator|utvecklare|skapare|agare|superanvandare|sakerhets(?:team|ansvarig)|utvecklingsteam)',
    secret:
      'losenord|hemlighet|hemlig\\w{0,2} (?:nyckel|kod|ord|information)|inloggningsuppgift|konfidentiell',
    lift: 'inaktivera|stang av|ta bort|upphav|las upp|kringga|avaktivera|ignorera',
    limits:
      'begransning|restriktion|sakerhets(?:atgard|protokoll|filter|sparr)|censur|innehallspolicy|sakerhets(?:riktlinje|regler)',
    permit:
      '(?:du har|jag ger dig) (?:nu )?(?:tillstand|behorighet|atkomst|tillatelse)|du ar (?:nu )?(?:behorig|auktoriserad)|atkomst beviljad|du far (?:nu|beratta)',
    changed:
      '(?:instruktioner\\w{0,2}|regler\\w{0,2}|order) (?:galler inte|har (?:andrats|upphavts)|ar (?:ogiltig|inte langre))',
    hush: '(?:beratta|sag|namn)\\w{0,2} (?:det )?inte (?:det |detta |nagot )?(?:for|till) anvandaren|utan att (?:informera|beratta for) anvandaren',
  },
  {
    language: 'pl',
    mode: 'tryb\\w{0,4} (?:deweloper|programist|administrator|boga|debugowania|serwisow|root|bez (?:ograniczen|filtr|zasad)|jailbreak|testow|diagnosty|systemow|superuzytkownik|awaryjn|nieograniczon|uprzywilejowan|dostepu)',
    enter: 'wlacz|aktywuj|przejdz|przelacz|uruchom|wejdz|jestes (?:teraz )?w',
    master:
      '(?:jestem|tu|jako) (?:twoim|twoj|waszym) (?:programist|tworc|administrator|deweloper|szef|wlasciciel)|(?:rozkaz|wiadomosc|komunikat) od (?:administrator|system|deweloper)',
    tell: 'pokaz|ujawnij|podaj|powiedz|wydrukuj|powtorz|napisz|wypisz|jakie (?:sa|byly)|udostepnij',
    orders:
      'prompt systemow|systemow\\w{0,4} prompt|(?:twoj|swoj)\\w{0,4} (?:instrukcj|prompt|zasad|wytyczn)|(?:poczatkow|tajn|ukryt|pierwotn)\\w{0,4} (?:instrukcj|prompt|polecen)|instrukcj\\w{0,4} systemow',
    free: 'bez (?:zadnych |jakichkolwiek )?(?:ograniczen|limit|filtr|cenzur|etyk|zasad)|nie (?:masz|mialbys|mial) (?:zadnych )?(?:ograniczen|limit|filtr|zasad)',
    now: '(?:teraz|od teraz|od tej pory)[ ,]{1,2}jestes|jestes teraz|udawaj|zachowuj sie jak|od teraz|od tej pory|udawaj',
    reader:
      'jesli jestes (?:ai|si|sztuczn|modelem|chatbot)|(?:uwaga|wiadomosc|instrukcj\\w{0,4}) dla (?:ai|asystent|model)',
    rank: '(?:jestem|tu|jako|jestesmy) (?:nowym |nowy )?(?:administrator|deweloper|programist|tworc|wlascicie|superuzytkownik|dyrektor|zespol(?:em)? (?:bezpieczenstwa|deweloper)|inzynier(?:em)? (?:bezpieczenstwa|systemow))',
    secret:
      'haslo|hasla|tajn(?:y|e|ego|ych) (?:klucz|kod|slow|informacj)|poufn(?:e|ych) (?:informacj|dan)|dane logowania',
    lift: 'wylacz|usun|znies|zdejm|dezaktyw|odblokuj|omin|obejdz|anuluj|(?:z)?ignoruj|pomin',
    limits:
      'ograniczen|protokoly? bezpieczenstwa|srodki bezpieczenstwa|cenzur|polityk[eia] (?:tresci|bezpieczenstwa)|(?:wytyczne|zasady) bezpieczenstwa|filtry? (?:bezpieczenstwa|tresci)',
    permit:
      '(?:masz|daje ci|otrzymujesz) (?:teraz )?(?:pozwoleni|uprawnieni|dostep|zgode)|jestes (?:teraz )?(?:upowazni|uprawni|autoryzowan)|dostep (?:przyznany|udzielony)|mozesz (?:teraz|mi|ujawni)',
    changed:
      '(?:instrukcje|zasady|polecenia|reguly) (?:juz nie|nie obowiazuj|zostaly|zmienily|sa (?:niewazne|nieaktualne))',
    hush: 'nie (?:mow|informuj|wspominaj|ujawniaj) (?:o tym |tego |nic )?uzytkownik|bez (?:informowania|wiedzy) uzytkownik',
  },
  {
    language: 'tr',
    mode: '(?:gelistirici|yonetici|tanri|tanrı|hata ayiklama|hata ayıklama|bakim|bakım|root|test|jailbreak|sinirsiz|sınırsız) mod|(?:sistem|super kullan[iı]c[iı]|acil durum|erisim|gecersiz k[iı]lma|ayr[iı]cal[iı]kl[iı]) mod',
    enter: 'etkinlestir|gec|baslat|ac\\b|gir\\b|aktif|artik',
    master:
      'ben (?:senin|sizin) (?:gelistirici|yaratici|yaratıcı|yonetici|programci|programcı|patron|sahib)|(?:yonetici|sistem|gelistirici) (?:emri|mesaji|mesajı|uyarisi)',
    tell: 'goster|acikla|açıkla|acıkla|soyle|yazdir|yazdır|tekrarla|yaz\\b|nedir|nelerdir|paylas|listele|ver\\b',
    orders:
      'sistem (?:prompt|istem|talimat|mesaj|komut)|(?:senin )?(?:talimat|prompt|kural)lar[iı]n|(?:gizli|ilk|baslangic|baslangıc|orijinal) (?:talimat|prompt|komut|yonerge)',
    free: '(?:hicbir )?(?:sinir|sınır|kisitlama|kısıtlama|filtre|sansur|kural|etik) (?:olmadan|olmaksizin|olmaksızın|tanimadan)|(?:sinir|sınır|kural|filtre|sansur)s[iıuü]z|(?:hicbir )?(?:k[iı]s[iı]tlama|s[iı]n[iı]r|filtre|kural)\\w{0,4} (?:yok|olmayan)',
    now: '(?:simdi|artik|artık|bundan sonra|su andan itibaren)[ ,]{1,2}sen|(?:gibi davran|rol yap|miş gibi yap|mis gibi yap)|bundan sonra|su andan itibaren|bundan boyle',
    reader:
      '(?:eger )?(?:bir )?(?:yapay zeka|dil modeli|sohbet botu)(?:ysan|ysaniz|iseniz|isen)|yapay zeka (?:icin|asistanina|modeline) (?:not|mesaj|talimat)',
    rank: '(?:ben|buras[iı]) (?:yeni )?(?:bir )?(?:sistem )?(?:yonetici|gelistirici|programc[iı]|guvenlik (?:ekib|gorevli)|kurucu|mudur|muhendis)|(?:yonetici|gelistirici|sistem yoneticisi|sahibin) olarak',
    secret: 'sifre|parola|gizli (?:anahtar|kelime|kod|bilgi)|s[iı]r\\b|s[iı]rr[iı]|gizli bilgiler',
    lift: 'devre d[iı]s[iı]|kald[iı]r|iptal et|kilidini ac|etkisiz|yok say|yoksay|gormezden gel|ihlal et',
    limits:
      'k[iı]s[iı]tlama|s[iı]n[iı]rlama|guvenlik (?:onlem|protokol|filtre|kontrol)|sansur|icerik politika|guvenlik (?:kural|yonerge|ilke|duvar)',
    permit:
      '(?:sana|size) (?:izin|yetki)|(?:iznin|yetkin|iznin[iı]z) var|yetkilisin|yetkilendiril|erisim (?:izni )?(?:verildi|onayland[iı])|(?:paylasabilir|soyleyebilir|ac[iı]klayabilir)sin',
    changed: '(?:talimatlar|kurallar|komutlar) (?:art[iı]k|degisti|gecersiz|iptal|guncellendi)',
    hush: 'kullan[iı]c[iı](?:ya|y[iı]) (?:bundan |bunu |hicbir sey )?(?:soyleme|bahsetme|bildirme|haber verme|bilgilendirme)',
  },
  {
    language: 'vi',
    mode: 'che đo (?:nha phat trien|quan tri|go loi|bao tri|khong gioi han|than thanh|root|kiem tra|admin|jailbreak)|che đo (?:he thong|sieu nguoi dung|khan cap|truy cap|ghi đe|đac quyen)',
    enter: 'kich hoat|bat|chuyen sang|vao|khoi dong|đang o',
    master:
      'toi la (?:nha phat trien|nguoi tao|quan tri vien|lap trinh vien|chu)(?: ra)? |(?:lenh|tin nhan|thong bao) (?:tu|cua) (?:quan tri|he thong|nha phat trien)',
    tell: 'hien thi|cho (?:toi )?(?:biet|xem)|tiet lo|in ra|lap lai|nhac lai|viet|liet ke|la gi|chia se|noi',
    orders:
      'prompt he thong|(?:huong dan|chi dan|loi nhac|lenh|chi thi) (?:he thong|ban dau|bi mat|an|goc|noi bo|cua ban)|prompt (?:cua ban|ban dau)|quy tac cua ban',
    free: 'khong (?:co |bi )?(?:bat ky )?(?:gioi han|han che|kiem duyet|bo loc|đao đuc|quy tac)|khong co (?:bat ky |chut )?(?:gioi han|han che|rao can|quy tac)',
    now: '(?:bay gio|tu bay gio|tu gio tro đi|ke tu bay gio)[ ,]{1,2}ban|ban (?:bay gio )?la mot (?:ai|tro ly)|gia vo|hay đong vai|đong vai|tu bay gio|tu gio tro đi|ke tu bay gio',
    reader:
      'neu ban la (?:mot )?(?:ai|tri tue nhan tao|mo hinh|chatbot)|(?:ghi chu|tin nhan|huong dan) (?:cho|danh cho) (?:ai|tro ly|mo hinh)',
    rank: '(?:toi la|đay la|voi tu cach la|chung toi la) (?:mot )?(?:quan tri vien|nha phat trien|nguoi tao|chu so huu|giam đoc|ky su|đoi (?:bao mat|an ninh|phat trien)|lap trinh vien|quan ly he thong|nguoi quan tri)',
    secret: 'mat khau|khoa bi mat|thong tin (?:mat|bi mat|nhay cam)|ma bi mat|tu khoa bi mat',
    lift: 'vo hieu hoa|go bo|loai bo|mo khoa|bo qua|phot lo|vi pham',
    limits:
      'han che|gioi han|bien phap (?:an toan|bao mat|an ninh)|giao thuc (?:an toan|bao mat|an ninh)|kiem duyet|chinh sach (?:noi dung|bao mat|an toan)|quy tac (?:an toan|bao mat)|huong dan an toan|bo loc (?:an toan|noi dung|bao mat)',
    permit:
      'ban (?:đuoc|đa đuoc|co|hien co) (?:phep|uy quyen|cho phep|cap quyen|quyen)|quyen truy cap (?:đa )?đuoc (?:cap|chap nhan)|toi cho phep ban|ban co the (?:tiet lo|chia se|bo qua)',
    changed:
      '(?:huong dan|quy tac|lenh|chi dan)(?: \\S{1,6})? (?:khong con|đa (?:thay đoi|bi huy|het|đuoc thay))',
    hush: '(?:đung|khong(?: đuoc)?) (?:noi|cho|tiet lo|thong bao|đe cap)(?: \\S{1,5})? (?:voi |cho |biet )?(?:nguoi dung)',
  },
  {
    language: 'id',
    mode: 'mode (?:pengembang|admin|administrator|dewa|debug|pemeliharaan|root|tanpa (?:batas|filter|sensor)|uji|jailbreak)|mode (?:sistem|superuser|darurat|akses|pengguna super|istimewa)',
    enter: 'aktifkan|masuk|beralih|mulai|nyalakan|ubah ke',
    master:
      '(?:saya|aku|ini) (?:adalah )?(?:pengembang|pencipta|administrator|pembuat|bos|pemilik)(?:mu| anda| kamu)|(?:perintah|pesan) dari (?:administrator|admin|sistem|pengembang)',
    tell: 'tampilkan|ungkapkan|beri ?tahu|berikan|cetak|ulangi|tulis|tunjukkan|apa (?:saja )?(?:isi )?|sebutkan|bagikan',
    orders:
      'prompt sistem|(?:instruksi|perintah|petunjuk|aturan) (?:sistem|awal|rahasia|tersembunyi|asli|internal|anda|kamu)|prompt (?:anda|kamu|awal)|instruksimu',
    free: 'tanpa (?:ada )?(?:batas|pembatas|filter|sensor|etika|aturan)|tidak (?:memiliki|punya|ada) (?:batas|pembatas|aturan|filter)',
    now: '(?:sekarang|mulai sekarang|mulai saat ini)[ ,]{1,2}(?:anda|kamu|kau)|berpura-pura|bertindak(?:lah)? sebagai|berperan(?:lah)? sebagai|mulai sekarang|mulai saat ini|berpura-pura',
    reader:
      'jika (?:anda|kamu) (?:adalah )?(?:sebuah )?(?:ai|kecerdasan buatan|model bahasa|chatbot)|(?:catatan|pesan|instruksi) untuk (?:ai|asisten|model)',
    rank: '(?:saya|aku|kami|ini) (?:adalah )?(?:seorang |sang )?(?:admin|administrator|pengembang|pencipta|pemilik|direktur|insinyur|tim (?:keamanan|pengembang)|teknisi|pengelola sistem)|sebagai (?:admin|administrator|pengembang|pemilik)',
    secret: 'kata sandi|informasi (?:rahasia|sensitif)|kode rahasia|kredensial|password',
    lift: 'nonaktifkan|matikan|buka kunci|hilangkan|singkirkan|abaikan|langgar',
    limits:
      'pembatasan|(?:protokol|tindakan|kontrol|langkah) keamanan|larangan|kebijakan (?:konten|keamanan)|pedoman (?:keamanan|konten)|aturan keamanan|filter (?:keamanan|konten)',
    permit:
      '(?:anda|kamu) (?:memiliki|punya|sudah|telah|kini|sekarang) (?:di)?(?:izin|akses|otoritas|wewenang|izinkan|beri izin)|(?:anda|kamu) (?:diizinkan|diperbolehkan|berwenang|boleh (?:memberi|mengungkap|mengabaikan))|akses (?:diberikan|disetujui|penuh)',
    changed:
      '(?:instruksi|aturan|perintah|kebijakan)(?: \\w{2,10})? (?:tidak (?:lagi|berlaku)|sudah (?:tidak|berubah|diganti)|telah (?:berubah|diubah|dibatalkan|diganti))',
    hush: '(?:jangan|tanpa) (?:beri ?tahu|memberi ?tahu|katakan|sampaikan|sebutkan|ungkapkan)(?: ini| hal ini| apa pun)?(?: kepada| pada| ke)? pengguna',
  },
  {
    language: 'tl',
    mode: '(?:developer|admin|debug|maintenance|root|god|jailbreak) mode|mode ng (?:developer|admin)|mode ng (?:sistema|debug)',
    enter: 'i-?activate|pumasok|lumipat|simulan|paganahin|buksan',
    master:
      'ako (?:ang|si) (?:iyong )?(?:developer|tagalikha|administrator|programmer|boss|may-ari)|(?:utos|mensahe) (?:ng|mula sa) (?:administrator|sistema|developer)',
    tell: 'ipakita|ibunyag|sabihin|i-?print|ulitin|isulat|ilista|ano ang|ibahagi|ibigay',
    orders:
      'system prompt|(?:iyong|mong|mo) (?:mga )?(?:tagubilin|panuntunan|instruction|prompt)|(?:lihim|nakatago|orihinal|paunang) na (?:mga )?(?:tagubilin|prompt|utos)',
    free: 'walang (?:anumang )?(?:limitasyon|paghihigpit|filter|censorship|etika|patakaran|mga patakaran)|wala(?:ng| kang) (?:limitasyon|paghihigpit|restriksyon|patakaran)',
    now: '(?:ngayon|mula ngayon|simula ngayon)[ ,]{1,2}(?:ay )?ikaw|ikaw ay ngayon|magpanggap|kumilos (?:ka )?bilang|mula ngayon|simula ngayon',
    reader:
      'kung ikaw ay (?:isang )?(?:ai|artificial intelligence|language model|chatbot)|(?:tala|mensahe|tagubilin) para sa (?:ai|assistant|model)',
    rank: '(?:ako|ito) (?:ang|si|ay)(?: ang)? (?:isang |bagong )?(?:admin|administrator|developer|tagalikha|may-ari|may ari|direktor|inhinyero|programmer|security team)|bilang (?:admin|administrator|developer|may-ari)',
    secret: 'password|sikreto|kumpidensyal',
    lift: 'i-?disable|patayin|i-?bypass|huwag paganahin|i-?unlock|balewalain|huwag pansinin',
    limits:
      'limitasyon|paghihigpit|restriksyon|restriction|censorship|patakaran sa (?:nilalaman|seguridad|kaligtasan)|content policy',
    permit:
      '(?:may|mayroon kang|binibigyan kita ng) (?:pahintulot|awtorisasyon|access)|(?:pinapayagan|pinahihintulutan|awtorisado) (?:ka|kang)|maaari mo(?:ng)? (?:nang )?(?:sabihin|ibahagi|ibunyag|balewalain)|access granted',
    changed:
      '(?:tagubilin|patakaran|utos|panuntunan) (?:ay )?(?:hindi na|nagbago|binago|kinansela|wala na)',
    hush: 'huwag (?:mong |mo itong |mo )?(?:sabihin|ipaalam|banggitin) (?:ito )?sa (?:user|gumagamit)',
  },
]

/** Claims in the languages with Latin letters, but English and Romance ones. */
export const latinClaims: readonly InjectionSignal[] = claimSignals(claims)
