(* Private candidates by a limited domain: the d keys of the largest counts are read, and rounds of the exponential
   mechanism run over them and *nothing*, which ends the list. docs/reference/mechanisms/limited_domain.md.

   Keys are natural numbers in their public order. The first `spare` of them are keys that nobody can have: their counts
   are 0, they come before all others of count 0, and they answer nothing. *)

From Coq Require Import Reals Lra Lia List Bool Permutation Arith.
Import ListNotations.
Open Scope R_scope.

(* ---- Sums over lists, and all ways to pick one ---- *)

Fixpoint total {X : Type} (f : X -> R) (l : list X) : R :=
  match l with
  | [] => 0
  | x :: rest => f x + total f rest
  end.

Fixpoint picks {X : Type} (l : list X) : list (X * list X) :=
  match l with
  | [] => []
  | x :: rest => (x, rest) :: map (fun pick => (fst pick, x :: snd pick)) (picks rest)
  end.

Lemma total_ext : forall X (f g : X -> R) l, (forall x, In x l -> f x = g x) -> total f l = total g l.
Proof.
  induction l as [|x l IH]; intros same; cbn [total]; [reflexivity|].
  rewrite (same x (or_introl eq_refl)), IH; [reflexivity|]. intros y inside. apply same. right. exact inside.
Qed.

Lemma total_le : forall X (f g : X -> R) l, (forall x, In x l -> f x <= g x) -> total f l <= total g l.
Proof.
  induction l as [|x l IH]; intros below; cbn [total]; [lra|].
  pose proof (below x (or_introl eq_refl)).
  assert (total f l <= total g l) by (apply IH; intros y inside; apply below; right; exact inside). lra.
Qed.

Lemma total_map : forall X Y (g : X -> Y) (f : Y -> R) l, total f (map g l) = total (fun x => f (g x)) l.
Proof. induction l as [|x l IH]; cbn [total map]; [|rewrite IH]; reflexivity. Qed.

Lemma total_scal : forall X c (f : X -> R) l, total (fun x => c * f x) l = c * total f l.
Proof. induction l as [|x l IH]; cbn [total]; [|rewrite IH]; lra. Qed.

Lemma total_plus : forall X (f g : X -> R) l, total (fun x => f x + g x) l = total f l + total g l.
Proof. induction l as [|x l IH]; cbn [total]; [|rewrite IH]; lra. Qed.

Lemma total_nonneg : forall X (f : X -> R) l, (forall x, In x l -> 0 <= f x) -> 0 <= total f l.
Proof.
  induction l as [|x l IH]; intros nonneg; cbn [total]; [lra|].
  pose proof (nonneg x (or_introl eq_refl)).
  assert (0 <= total f l) by (apply IH; intros y inside; apply nonneg; right; exact inside). lra.
Qed.

Lemma total_perm : forall X (f : X -> R) l l', Permutation l l' -> total f l = total f l'.
Proof. intros X f l l' same. induction same; cbn [total]; lra. Qed.

Lemma total_picks : forall X (f : X -> R) l, total (fun pick => f (fst pick)) (picks l) = total f l.
Proof.
  induction l as [|x l IH]; cbn [total picks]; [reflexivity|]. rewrite total_map. cbn [fst]. rewrite IH. reflexivity.
Qed.

Lemma picks_perm : forall X (l : list X) pick, In pick (picks l) -> Permutation l (fst pick :: snd pick).
Proof.
  induction l as [|x l IH]; intros pick inside; cbn [picks] in inside; [contradiction|].
  destruct inside as [<-|inside]; [reflexivity|].
  apply in_map_iff in inside. destruct inside as [[y ys] [<- inside]]. cbn [fst snd].
  rewrite (IH (y, ys) inside). cbn [fst snd]. apply perm_swap.
Qed.

Lemma picks_map :
  forall X Y (g : X -> Y) l, picks (map g l) = map (fun pick => (g (fst pick), map g (snd pick))) (picks l).
Proof.
  induction l as [|x l IH]; cbn [map picks]; [reflexivity|]. rewrite IH, !map_map. cbn [fst snd]. reflexivity.
Qed.

Lemma total_picks_perm :
  forall X l l', Permutation l l' ->
    forall F : X * list X -> R, (forall x r r', Permutation r r' -> F (x, r) = F (x, r')) ->
      total F (picks l) = total F (picks l').
Proof.
  intros X l l' same. induction same as [|x l l' same IH|x y l|l l' l'' first IH1 second IH2]; intros F stable;
    cbn [picks total map].
  - reflexivity.
  - rewrite !total_map, (stable x l l' same). f_equal.
    apply (IH (fun pick => F (fst pick, x :: snd pick))). intros z r r' perm. cbn [fst snd].
    apply stable. apply perm_skip. exact perm.
  - rewrite !map_map, !total_map. cbn [fst snd].
    rewrite (total_ext _ (fun z => F (fst z, y :: x :: snd z)) (fun z => F (fst z, x :: y :: snd z))); [lra|].
    intros [z r] _. apply stable. apply perm_swap.
  - rewrite (IH1 F stable). apply (IH2 F stable).
Qed.

(* ---- Rounds of the exponential mechanism, each without what was drawn before ---- *)

Definition told (event : list nat -> bool) : R := if event [] then 1 else 0.

(* An item is its weight and the key that it answers, None where that is nothing; `nothing` is the weight of ending. *)
Fixpoint peel (rounds : nat) (nothing : R) (items : list (R * option nat)) (event : list nat -> bool) : R :=
  match rounds with
  | O => told event
  | S less =>
      let all := nothing + total fst items in
      nothing / all * told event
      + total (fun pick => fst (fst pick) / all *
                 match snd (fst pick) with
                 | None => told event
                 | Some key => peel less nothing (snd pick) (fun list => event (key :: list))
                 end) (picks items)
  end.

Lemma peel_perm :
  forall rounds nothing items items' event, Permutation items items' ->
    peel rounds nothing items event = peel rounds nothing items' event.
Proof.
  induction rounds as [|less IH]; intros nothing items items' event same; cbn [peel]; [reflexivity|].
  rewrite (total_perm _ fst items items' same). f_equal. apply total_picks_perm; [exact same|].
  intros [w key] r r' perm. cbn [fst snd]. destruct key as [key|]; [|reflexivity].
  rewrite (IH nothing r r' _ perm). reflexivity.
Qed.

Definition weighty (items : list (R * option nat)) : Prop := forall item, In item items -> 0 < fst item.

Lemma weighty_rest :
  forall items pick, weighty items -> In pick (picks items) -> 0 < fst (fst pick) /\ weighty (snd pick).
Proof.
  intros items pick pos inside. pose proof (picks_perm _ _ _ inside) as perm. split.
  - apply pos. apply Permutation_sym in perm. apply (Permutation_in _ perm). left. reflexivity.
  - intros item within. apply pos. apply Permutation_sym in perm. apply (Permutation_in _ perm). right. exact within.
Qed.

Lemma told_range : forall event, 0 <= told event <= 1.
Proof. intros event. unfold told. destruct (event []); lra. Qed.

Lemma peel_range :
  forall rounds nothing items event, 0 < nothing -> weighty items -> 0 <= peel rounds nothing items event <= 1.
Proof.
  induction rounds as [|less IH]; intros nothing items event some pos; cbn [peel]; [apply told_range|].
  assert (sum0 : 0 <= total fst items) by (apply total_nonneg; intros item inside; left; apply pos, inside).
  set (all := nothing + total fst items). assert (all0 : 0 < all) by (unfold all; lra).
  assert (inverse : 0 < / all) by (apply Rinv_0_lt_compat, all0).
  pose proof (told_range event) as range.
  assert (first : 0 <= nothing / all) by (apply Rmult_le_pos; lra).
  assert (each : forall pick, In pick (picks items) ->
            0 <= fst (fst pick) / all *
                 match snd (fst pick) with
                 | None => told event
                 | Some key => peel less nothing (snd pick) (fun list => event (key :: list))
                 end <= / all * fst (fst pick)).
  { intros pick inside. destruct (weighty_rest items pick pos inside) as [w0 rest].
    assert (share : 0 <= fst (fst pick) / all) by (apply Rmult_le_pos; lra).
    assert (part : 0 <= match snd (fst pick) with
                   | None => told event
                   | Some key => peel less nothing (snd pick) (fun list => event (key :: list))
                   end <= 1) by (destruct (snd (fst pick)); [apply IH; assumption|exact range]).
    split; [apply Rmult_le_pos; lra|].
    replace (/ all * fst (fst pick)) with (fst (fst pick) / all * 1) by (unfold Rdiv; lra).
    apply Rmult_le_compat_l; lra. }
  split.
  - apply Rplus_le_le_0_compat; [apply Rmult_le_pos; lra|].
    apply total_nonneg. intros pick inside. apply each, inside.
  - apply Rle_trans with (nothing / all * 1 + total (fun pick => / all * fst (fst pick)) (picks items)).
    + apply Rplus_le_compat; [apply Rmult_le_compat_l; lra|]. apply total_le. intros pick inside. apply each, inside.
    + rewrite total_scal, (total_picks _ fst). right. unfold Rdiv.
      replace (nothing * / all * 1 + / all * total fst items) with (all * / all) by (unfold all; lra).
      apply Rinv_r. lra.
Qed.

(* ---- Slots: the same places with one unit more and without ---- *)

Record slot := { weight : R; weight' : R; answer : option nat; answer' : option nat; bad : bool }.

Definition one (s : slot) : R * option nat := (weight s, answer s).
Definition other (s : slot) : R * option nat := (weight' s, answer' s).

(* The probability of an event and of no bad slot. *)
Fixpoint good (heavy : slot -> R) (rounds : nat) (nothing : R) (slots : list slot) (event : list nat -> bool) : R :=
  match rounds with
  | O => told event
  | S less =>
      let all := nothing + total heavy slots in
      nothing / all * told event
      + total (fun pick => heavy (fst pick) / all *
                 (if bad (fst pick) then 0
                  else match answer (fst pick) with
                       | None => told event
                       | Some key => good heavy less nothing (snd pick) (fun list => event (key :: list))
                       end)) (picks slots)
  end.

Definition bad_weight (heavy : slot -> R) (slots : list slot) : R :=
  total (fun s => if bad s then heavy s else 0) slots.

Definition heavy_slots (heavy : slot -> R) (slots : list slot) : Prop := forall s, In s slots -> 0 < heavy s.

Lemma slots_rest :
  forall slots pick, In pick (picks slots) ->
    In (fst pick) slots /\ (forall s, In s (snd pick) -> In s slots) /\
    forall f : slot -> R, total f slots = f (fst pick) + total f (snd pick).
Proof.
  intros slots pick inside. pose proof (picks_perm _ _ _ inside) as perm.
  split; [|split].
  - apply (Permutation_in _ (Permutation_sym perm)). left. reflexivity.
  - intros s within. apply (Permutation_in _ (Permutation_sym perm)). right. exact within.
  - intros f. rewrite (total_perm _ f _ _ perm). reflexivity.
Qed.

(* A bad slot is drawn before *nothing* with the probability that it would be if there were no others, at most. *)
Lemma bad_is_rare :
  forall heavy key rounds nothing slots event,
    0 < nothing -> heavy_slots heavy slots ->
    (forall s, In s slots -> bad s = false -> key s = answer s) ->
    peel rounds nothing (map (fun s => (heavy s, key s)) slots) event
    <= good heavy rounds nothing slots event + bad_weight heavy slots / (bad_weight heavy slots + nothing).
Proof.
  intros heavy key. induction rounds as [|less IH]; intros nothing slots event some pos same.
  - cbn [peel good].
    assert (b0 : 0 <= bad_weight heavy slots).
    { apply total_nonneg. intros s inside. destruct (bad s); [left; apply pos, inside|lra]. }
    assert (0 <= bad_weight heavy slots / (bad_weight heavy slots + nothing)).
    { apply Rmult_le_pos; [exact b0|left; apply Rinv_0_lt_compat; lra]. }
    lra.
  - cbn [peel good]. rewrite picks_map, !total_map. cbn [fst snd].
    set (b := bad_weight heavy slots).
    assert (b0 : 0 <= b).
    { apply total_nonneg. intros s inside. destruct (bad s); [left; apply pos, inside|lra]. }
    assert (h0 : 0 <= total heavy slots) by (apply total_nonneg; intros s inside; left; apply pos, inside).
    set (all := nothing + total heavy slots). assert (all0 : 0 < all) by (unfold all; lra).
    assert (inverse : 0 < / all) by (apply Rinv_0_lt_compat, all0).
    change (total (fun x => heavy x) slots) with (total heavy slots). fold all.
    assert (each : forall pick, In pick (picks slots) ->
      heavy (fst pick) / all *
        match key (fst pick) with
        | None => told event
        | Some a => peel less nothing (map (fun s => (heavy s, key s)) (snd pick)) (fun list => event (a :: list))
        end
      <= heavy (fst pick) / all *
           (if bad (fst pick) then 0
            else match answer (fst pick) with
                 | None => told event
                 | Some a => good heavy less nothing (snd pick) (fun list => event (a :: list))
                 end)
         + (/ all * (if bad (fst pick) then heavy (fst pick) else 0) * (1 - b / (b + nothing))
            + / all * heavy (fst pick) * (b / (b + nothing)))).
    { intros pick inside. destruct (slots_rest slots pick inside) as [member [within split]].
      pose proof (pos (fst pick) member) as w0.
      assert (rest_pos : heavy_slots heavy (snd pick)) by (intros s inside'; apply pos, within, inside').
      assert (share : 0 <= heavy (fst pick) / all) by (apply Rmult_le_pos; lra).
      assert (q0 : 0 <= b / (b + nothing)) by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
      assert (weights : weighty (map (fun s => (heavy s, key s)) (snd pick))).
      { intros item inside'. apply in_map_iff in inside'. destruct inside' as [s [<- inside']].
        apply rest_pos, inside'. }
      destruct (bad (fst pick)) eqn:is_bad.
      - assert (part : match key (fst pick) with
                       | None => told event
                       | Some a => peel less nothing (map (fun s => (heavy s, key s)) (snd pick)) (fun list => event (a :: list))
                       end <= 1).
        { destruct (key (fst pick)); [apply peel_range; assumption|apply told_range]. }
        assert (heavy (fst pick) / all * match key (fst pick) with
                       | None => told event
                       | Some a => peel less nothing (map (fun s => (heavy s, key s)) (snd pick)) (fun list => event (a :: list))
                       end <= heavy (fst pick) / all * 1) by (apply Rmult_le_compat_l; lra).
        unfold Rdiv in *. lra.
      - rewrite (same (fst pick) member is_bad).
        assert (same_b : bad_weight heavy (snd pick) = b).
        { unfold b, bad_weight. rewrite (split (fun s => if bad s then heavy s else 0)), is_bad. lra. }
        destruct (answer (fst pick)) as [a|].
        + pose proof (IH nothing (snd pick) (fun list => event (a :: list)) some rest_pos
            (fun s inside' => same s (within s inside'))) as rest.
          rewrite same_b in rest.
          assert (heavy (fst pick) / all * peel less nothing (map (fun s => (heavy s, key s)) (snd pick)) (fun list => event (a :: list))
                  <= heavy (fst pick) / all * (good heavy less nothing (snd pick) (fun list => event (a :: list)) + b / (b + nothing)))
            by (apply Rmult_le_compat_l; lra).
          unfold Rdiv in *. lra.
        + assert (0 <= heavy (fst pick) / all * (b / (b + nothing))) by (apply Rmult_le_pos; lra).
          unfold Rdiv in *. lra. }
    pose proof (total_le _ _ _ _ each) as sums. rewrite !total_plus in sums.
    assert (first : total (fun pick => / all * (if bad (fst pick) then heavy (fst pick) else 0) * (1 - b / (b + nothing))) (picks slots)
                    = / all * b * (1 - b / (b + nothing))).
    { rewrite (total_ext _ _ (fun pick => / all * (1 - b / (b + nothing)) * (if bad (fst pick) then heavy (fst pick) else 0)))
        by (intros; lra).
      rewrite total_scal, (total_picks _ (fun s => if bad s then heavy s else 0)). unfold b at 3, bad_weight. lra. }
    assert (second : total (fun pick => / all * heavy (fst pick) * (b / (b + nothing))) (picks slots)
                     = / all * total heavy slots * (b / (b + nothing))).
    { rewrite (total_ext _ _ (fun pick => / all * (b / (b + nothing)) * heavy (fst pick))) by (intros; lra).
      rewrite total_scal, (total_picks _ heavy). lra. }
    rewrite first, second in sums.
    assert (whole : / all * b * (1 - b / (b + nothing)) + / all * total heavy slots * (b / (b + nothing)) = b / (b + nothing)).
    { replace (total heavy slots) with (all - nothing) by (unfold all; lra). field. split; lra. }
    lra.
Qed.

Lemma good_is_peel :
  forall heavy key rounds nothing slots event,
    0 < nothing -> heavy_slots heavy slots ->
    (forall s, In s slots -> bad s = false -> key s = answer s) ->
    good heavy rounds nothing slots event <= peel rounds nothing (map (fun s => (heavy s, key s)) slots) event.
Proof.
  intros heavy key. induction rounds as [|less IH]; intros nothing slots event some pos same; cbn [peel good]; [lra|].
  rewrite picks_map, !total_map. cbn [fst snd].
  assert (h0 : 0 <= total heavy slots) by (apply total_nonneg; intros s inside; left; apply pos, inside).
  change (total (fun x => heavy x) slots) with (total heavy slots).
  set (all := nothing + total heavy slots). assert (all0 : 0 < all) by (unfold all; lra).
  assert (inverse : 0 < / all) by (apply Rinv_0_lt_compat, all0).
  apply Rplus_le_compat_l. apply total_le. intros pick inside.
  destruct (slots_rest slots pick inside) as [member [within _]].
  pose proof (pos (fst pick) member) as w0.
  apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|].
  assert (rest_pos : heavy_slots heavy (snd pick)) by (intros s inside'; apply pos, within, inside').
  assert (weights : weighty (map (fun s => (heavy s, key s)) (snd pick))).
  { intros item inside'. apply in_map_iff in inside'. destruct inside' as [s [<- inside']]. apply rest_pos, inside'. }
  destruct (bad (fst pick)) eqn:is_bad.
  - destruct (key (fst pick)); [apply peel_range; assumption|apply told_range].
  - rewrite (same (fst pick) member is_bad). destruct (answer (fst pick)) as [a|]; [|lra].
    apply IH; [exact some|exact rest_pos|]. intros s inside'. apply same, within, inside'.
Qed.

Lemma good_nonneg :
  forall heavy rounds nothing slots event, 0 < nothing -> heavy_slots heavy slots -> 0 <= good heavy rounds nothing slots event.
Proof.
  intros heavy. induction rounds as [|less IH]; intros nothing slots event some pos; cbn [good]; [apply told_range|].
  assert (h0 : 0 <= total heavy slots) by (apply total_nonneg; intros s inside; left; apply pos, inside).
  assert (inverse : 0 < / (nothing + total heavy slots)) by (apply Rinv_0_lt_compat; lra).
  pose proof (told_range event).
  apply Rplus_le_le_0_compat; [apply Rmult_le_pos; [apply Rmult_le_pos; lra|lra]|].
  apply total_nonneg. intros pick inside. destruct (slots_rest slots pick inside) as [member [within _]].
  pose proof (pos (fst pick) member).
  apply Rmult_le_pos; [apply Rmult_le_pos; lra|].
  destruct (bad (fst pick)); [lra|]. destruct (answer (fst pick)); [|lra].
  apply IH; [exact some|]. intros s inside'. apply pos, within, inside'.
Qed.

(* Weights that lie within a factor c of each other, always the same way: each round costs c. *)
Lemma good_is_near :
  forall c heavy heavy', 1 <= c -> forall rounds nothing nothing' slots event,
    0 < nothing -> 0 < nothing' -> heavy_slots heavy slots -> heavy_slots heavy' slots ->
    (nothing <= nothing' <= c * nothing /\ (forall s, In s slots -> heavy s <= heavy' s <= c * heavy s) \/
     nothing' <= nothing <= c * nothing' /\ (forall s, In s slots -> heavy' s <= heavy s <= c * heavy' s)) ->
    good heavy rounds nothing slots event <= c ^ rounds * good heavy' rounds nothing' slots event.
Proof.
  intros c heavy heavy' c1. induction rounds as [|less IH]; intros nothing nothing' slots event some some' pos pos' near.
  - cbn [good pow]. lra.
  - assert (h0 : 0 <= total heavy slots) by (apply total_nonneg; intros s inside; left; apply pos, inside).
    assert (h0' : 0 <= total heavy' slots) by (apply total_nonneg; intros s inside; left; apply pos', inside).
    cbn [good pow].
    set (all := nothing + total heavy slots). set (all' := nothing' + total heavy' slots).
    assert (all0 : 0 < all) by (unfold all; lra). assert (all0' : 0 < all') by (unfold all'; lra).
    assert (power : 0 < c ^ less) by (apply pow_lt; lra).
    assert (power1 : 1 <= c ^ less) by (apply pow_R1_Rle; exact c1).
    (* x / all <= c x' / all' for each weight *)
    assert (share : forall x x', 0 < x -> 0 < x' ->
              (x <= x' /\ nothing <= nothing' /\ all' <= c * all) \/ (x <= c * x' /\ all' <= all) ->
              x / all <= c * (x' / all')).
    { intros x x' x0 x0' cases. apply Rmult_le_reg_r with (all * all'); [apply Rmult_lt_0_compat; assumption|].
      replace (x / all * (all * all')) with (x * all') by (field; lra).
      replace (c * (x' / all') * (all * all')) with (c * x' * all) by (field; lra).
      destruct cases as [[le [_ le2]]|[le le2]].
      - assert (x * all' <= x * (c * all)) by (apply Rmult_le_compat_l; lra).
        assert (0 <= c * all) by (apply Rmult_le_pos; lra).
        assert (x * (c * all) <= x' * (c * all)) by (apply Rmult_le_compat_r; lra). lra.
      - assert (x * all' <= x * all) by (apply Rmult_le_compat_l; lra).
        assert (x * all <= c * x' * all) by (apply Rmult_le_compat_r; lra). lra. }
    assert (shares : nothing / all <= c * (nothing' / all') /\
              forall s, In s slots -> heavy s / all <= c * (heavy' s / all')).
    { destruct near as [[[n0 n1] each]|[[n0 n1] each]].
      - assert (all' <= c * all).
        { unfold all, all'. rewrite Rmult_plus_distr_l, <- total_scal.
          apply Rplus_le_compat; [lra|]. apply total_le. intros s inside. apply each, inside. }
        split; [apply share; try assumption; left; repeat split; lra|].
        intros s inside. pose proof (each s inside). apply share; [apply pos|apply pos'|]; try assumption.
        left. repeat split; lra.
      - assert (all' <= all).
        { unfold all, all'. apply Rplus_le_compat; [lra|]. apply total_le. intros s inside. apply each, inside. }
        split; [apply share; try assumption; right; split; lra|].
        intros s inside. pose proof (each s inside). apply share; [apply pos|apply pos'|]; try assumption.
        right. split; lra. }
    destruct shares as [first each].
    pose proof (told_range event) as range.
    rewrite Rmult_plus_distr_l, <- total_scal. apply Rplus_le_compat.
    + assert (0 <= nothing / all) by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
      assert (nothing / all * told event <= c * (nothing' / all') * told event) by (apply Rmult_le_compat_r; lra).
      assert (0 <= c * (nothing' / all') * told event) by (apply Rmult_le_pos; lra).
      assert (1 * (c * (nothing' / all') * told event) <= c ^ less * (c * (nothing' / all') * told event))
        by (apply Rmult_le_compat_r; lra).
      lra.
    + apply total_le. intros pick inside. destruct (slots_rest slots pick inside) as [member [within _]].
      pose proof (each (fst pick) member) as here. pose proof (pos (fst pick) member) as w0.
      assert (0 <= heavy (fst pick) / all) by (apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]).
      destruct (bad (fst pick)); [lra|].
      assert (part : exists x x', 0 <= x /\ 0 <= x' /\ x <= c ^ less * x' /\
        match answer (fst pick) with
        | None => told event
        | Some key => good heavy less nothing (snd pick) (fun list => event (key :: list))
        end = x /\
        match answer (fst pick) with
        | None => told event
        | Some key => good heavy' less nothing' (snd pick) (fun list => event (key :: list))
        end = x').
      { assert (rest_pos : heavy_slots heavy (snd pick)) by (intros s inside'; apply pos, within, inside').
        assert (rest_pos' : heavy_slots heavy' (snd pick)) by (intros s inside'; apply pos', within, inside').
        destruct (answer (fst pick)) as [key|].
        - do 2 eexists. repeat apply conj; [| | |reflexivity|reflexivity].
          + apply good_nonneg; assumption.
          + apply good_nonneg; assumption.
          + apply IH; try assumption.
            destruct near as [[n near]|[n near]]; [left|right]; (split; [exact n|]); intros s inside';
              apply near, within, inside'.
        - exists (told event), (told event). repeat apply conj; try lra.
          assert (1 * told event <= c ^ less * told event) by (apply Rmult_le_compat_r; lra). lra. }
      destruct part as [x [x' [x0 [x0' [le [-> ->]]]]]].
      assert (heavy (fst pick) / all * x <= c * (heavy' (fst pick) / all') * x) by (apply Rmult_le_compat_r; lra).
      assert (c * (heavy' (fst pick) / all') * x <= c * (heavy' (fst pick) / all') * (c ^ less * x'))
        by (apply Rmult_le_compat_l; lra).
      lra.
Qed.

(* One delta for all rounds: slots of which weights move the same way by at most c, the bad ones light on both sides. *)
Theorem slots_private :
  forall c d rounds nothing nothing' slots event,
    1 <= c -> 0 < nothing -> 0 < nothing' -> heavy_slots weight slots -> heavy_slots weight' slots ->
    (forall s, In s slots -> bad s = false -> answer' s = answer s) ->
    nothing <= nothing' <= c * nothing -> (forall s, In s slots -> weight s <= weight' s <= c * weight s) ->
    bad_weight weight slots / (bad_weight weight slots + nothing) <= d ->
    bad_weight weight' slots / (bad_weight weight' slots + nothing') <= d ->
    peel rounds nothing (map one slots) event <= c ^ rounds * peel rounds nothing' (map other slots) event + d /\
    peel rounds nothing' (map other slots) event <= c ^ rounds * peel rounds nothing (map one slots) event + d.
Proof.
  intros c d rounds nothing nothing' slots event c1 some some' pos pos' same near each rare rare'.
  assert (power : 0 < c ^ rounds) by (apply pow_lt; lra).
  pose proof (bad_is_rare weight answer rounds nothing slots event some pos (fun _ _ _ => eq_refl)) as a.
  pose proof (bad_is_rare weight' answer' rounds nothing' slots event some' pos' same) as a'.
  pose proof (good_is_peel weight answer rounds nothing slots event some pos (fun _ _ _ => eq_refl)) as b.
  pose proof (good_is_peel weight' answer' rounds nothing' slots event some' pos' same) as b'.
  pose proof (good_is_near c weight weight' c1 rounds nothing nothing' slots event some some' pos pos'
    (or_introl (conj near each))) as n.
  pose proof (good_is_near c weight' weight c1 rounds nothing' nothing slots event some' some pos' pos
    (or_intror (conj near each))) as n'.
  change (map (fun s => (weight s, answer s)) slots) with (map one slots) in *.
  change (map (fun s => (weight' s, answer' s)) slots) with (map other slots) in *.
  set (p := peel rounds nothing (map one slots) event) in *. set (q := peel rounds nothing' (map other slots) event) in *.
  set (g := good weight rounds nothing slots event) in *. set (g' := good weight' rounds nothing' slots event) in *.
  assert (c ^ rounds * g' <= c ^ rounds * q) by (apply Rmult_le_compat_l; lra).
  assert (c ^ rounds * g <= c ^ rounds * p) by (apply Rmult_le_compat_l; lra).
  split; lra.
Qed.

(* ---- Counts ---- *)

Definition ahead (counts : nat -> nat) (i j : nat) : Prop :=
  (counts j < counts i \/ counts i = counts j /\ i < j)%nat.

(* D holds the keys that come first, tau is the count of the next; of keys 0, ..., n - 1, the spare ones among them. *)
Definition top (n : nat) (counts : nat -> nat) (D : list nat) (tau : nat) : Prop :=
  NoDup D /\ (forall i, In i D -> (i < n)%nat) /\
  (forall i j, In i D -> ~ In j D -> (j < n)%nat -> ahead counts i j) /\
  (exists j, (j < n)%nat /\ ~ In j D /\ counts j = tau) /\
  (forall j, (j < n)%nat -> ~ In j D -> (counts j <= tau)%nat).

(* A unit comes and adds one to the counts of the keys in A. *)
Definition joins (counts counts' : nat -> nat) (A : list nat) : Prop :=
  NoDup A /\ (forall i, In i A -> counts' i = S (counts i)) /\ (forall i, ~ In i A -> counts' i = counts i).

Definition items (c : R) (spare : nat) (counts : nat -> nat) (D : list nat) : list (R * option nat) :=
  map (fun i => (c ^ counts i, if Nat.ltb i spare then None else Some i)) D.

(* e^(eta (tau + 1 + T)), with e^(eta T) = m (1 - d) / d. *)
Definition ending (c d : R) (m tau : nat) : R := c ^ S tau * (INR m * (1 - d) / d).

Definition limited (c d : R) (spare m rounds : nat) (counts : nat -> nat) (D : list nat) (tau : nat) : (list nat -> bool) -> R :=
  peel rounds (ending c d m tau) (items c spare counts D).

Definition within (l : list nat) (i : nat) : bool := if in_dec Nat.eq_dec i l then true else false.

Lemma within_true : forall l i, within l i = true <-> In i l.
Proof. intros l i. unfold within. destruct (in_dec Nat.eq_dec i l); split; intros; try easy. Qed.

Lemma within_false : forall l i, within l i = false <-> ~ In i l.
Proof. intros l i. unfold within. destruct (in_dec Nat.eq_dec i l); split; intros; try easy. Qed.

Lemma halves :
  forall f (l : list nat), Permutation l (filter f l ++ filter (fun i => negb (f i)) l).
Proof.
  intros f. induction l as [|x l IH]; [reflexivity|]. cbn [filter]. destruct (f x); cbn [negb].
  - cbn [app]. apply perm_skip. exact IH.
  - rewrite IH at 1. apply Permutation_middle.
Qed.

Section Counts.
Variables (n : nat) (counts counts' : nat -> nat) (A D D' : list nat) (tau tau' : nat).
Hypothesis joined : joins counts counts' A.
Hypothesis is_top : top n counts D tau.
Hypothesis is_top' : top n counts' D' tau'.
Hypothesis same_length : length D = length D'.

Lemma rises : forall i, (counts i <= counts' i <= S (counts i))%nat.
Proof.
  destruct joined as [_ [inside outside]]. intros i.
  destruct (in_dec Nat.eq_dec i A) as [yes|no]; [rewrite (inside i yes)|rewrite (outside i no)]; lia.
Qed.

(* Where some key is in one list only, some other is in the other only. *)
Lemma leaves_if_comes : forall x, In x D' -> ~ In x D -> exists y, In y D /\ ~ In y D'.
Proof.
  intros x inside outside. destruct is_top as [nodup _]. destruct is_top' as [nodup' _].
  destruct (existsb (fun y => negb (within D' y)) D) eqn:some.
  - apply existsb_exists in some. destruct some as [y [member left]]. exists y. split; [exact member|].
    apply negb_true_iff, within_false in left. exact left.
  - exfalso. apply outside.
    assert (incl D D').
    { intros y member. destruct (within D' y) eqn:is; [apply within_true, is|].
      assert (existsb (fun y => negb (within D' y)) D = true)
        by (apply existsb_exists; exists y; split; [exact member|rewrite is; reflexivity]). congruence. }
    assert (back : incl D' D) by (apply NoDup_length_incl; [exact nodup|lia|assumption]). apply back, inside.
Qed.

Lemma comes_if_leaves : forall x, In x D -> ~ In x D' -> exists y, In y D' /\ ~ In y D.
Proof.
  intros x inside outside. destruct is_top as [nodup _]. destruct is_top' as [nodup' _].
  destruct (existsb (fun y => negb (within D y)) D') eqn:some.
  - apply existsb_exists in some. destruct some as [y [member left]]. exists y. split; [exact member|].
    apply negb_true_iff, within_false in left. exact left.
  - exfalso. apply outside.
    assert (incl D' D).
    { intros y member. destruct (within D y) eqn:is; [apply within_true, is|].
      assert (existsb (fun y => negb (within D y)) D' = true)
        by (apply existsb_exists; exists y; split; [exact member|rewrite is; reflexivity]). congruence. }
    assert (back : incl D D') by (apply NoDup_length_incl; [exact nodup'|lia|assumption]). apply back, inside.
Qed.

(* Only keys of the unit come in. *)
Lemma who_comes : forall x, In x D' -> ~ In x D -> In x A.
Proof.
  intros x inside outside. destruct (in_dec Nat.eq_dec x A) as [yes|no]; [exact yes|exfalso].
  destruct (leaves_if_comes x inside outside) as [y [here gone]].
  destruct is_top as [_ [range [order _]]]. destruct is_top' as [_ [range' [order' _]]].
  pose proof (order y x here outside (range' x inside)) as before.
  pose proof (order' x y inside gone (range y here)) as after.
  destruct joined as [_ [_ still]]. pose proof (still x no). pose proof (rises y).
  unfold ahead in *. lia.
Qed.

Lemma next_count_moves : (tau <= tau' <= S tau)%nat.
Proof.
  destruct is_top as [_ [range [order [[j [jn [jout jis]]] most]]]].
  destruct is_top' as [_ [range' [order' [[j' [jn' [jout' jis']]] most']]]].
  split.
  - destruct (in_dec Nat.eq_dec j D') as [inside|outside].
    + destruct (leaves_if_comes j inside jout) as [y [here gone]].
      pose proof (order y j here jout jn). pose proof (most' y (range y here) gone). pose proof (rises y).
      unfold ahead in *. lia.
    + pose proof (most' j jn outside). pose proof (rises j). lia.
  - destruct (in_dec Nat.eq_dec j' D) as [inside|outside].
    + destruct (comes_if_leaves j' inside jout') as [y [here gone]].
      pose proof (order' y j' here jout' jn'). pose proof (most y (range' y here) gone). pose proof (rises y).
      unfold ahead in *. lia.
    + pose proof (most j' jn' outside). pose proof (rises j'). lia.
Qed.

Lemma matched :
  forall b b', In b D -> ~ In b D' -> In b' D' -> ~ In b' D ->
    (counts b <= counts' b' <= S (counts b) /\ counts b <= S tau /\ counts' b' <= S tau')%nat.
Proof.
  intros b b' here gone here' new.
  destruct is_top as [_ [range [order [[j [jn [jout jis]]] most]]]].
  destruct is_top' as [_ [range' [order' [[j' [jn' [jout' jis']]] most']]]].
  pose proof (most' b (range b here) gone). pose proof (rises b). pose proof (rises b').
  pose proof (order' b' j' here' jout' jn'). pose proof (most b' (range' b' here') new).
  pose proof (order b j here jout jn). pose proof next_count_moves. unfold ahead in *. lia.
Qed.

Let common := filter (within D') D.
Let left := filter (fun i => negb (within D' i)) D.
Let right := filter (fun i => negb (within D i)) D'.

Lemma left_is : forall b, In b left <-> In b D /\ ~ In b D'.
Proof. intros b. unfold left. rewrite filter_In, negb_true_iff, within_false. reflexivity. Qed.

Lemma right_is : forall b, In b right <-> In b D' /\ ~ In b D.
Proof. intros b. unfold right. rewrite filter_In, negb_true_iff, within_false. reflexivity. Qed.

Lemma common_is : Permutation common (filter (within D) D').
Proof.
  destruct is_top as [nodup _]. destruct is_top' as [nodup' _].
  apply NoDup_Permutation; [apply NoDup_filter, nodup|apply NoDup_filter, nodup'|].
  intros x. unfold common. rewrite !filter_In, !within_true. tauto.
Qed.

Lemma before_split : Permutation D (common ++ left).
Proof. apply halves. Qed.

Lemma after_split : Permutation D' (common ++ right).
Proof. rewrite common_is. apply halves. Qed.

Lemma as_many : length left = length right.
Proof.
  pose proof (Permutation_length before_split) as a. pose proof (Permutation_length after_split) as b.
  rewrite app_length in a, b. lia.
Qed.

Lemma few : (length right <= Nat.min (length A) (length D'))%nat.
Proof.
  destruct is_top' as [nodup' _].
  apply Nat.min_glb.
  - apply NoDup_incl_length; [apply NoDup_filter, nodup'|]. intros x inside. apply right_is in inside. apply who_comes; tauto.
  - apply NoDup_incl_length; [apply NoDup_filter, nodup'|]. intros x inside. apply right_is in inside. tauto.
Qed.

Variables (c d : R) (spare m rounds : nat).
Hypothesis c1 : 1 <= c.
Hypothesis d01 : 0 < d < 1.
Hypothesis some : (0 < m)%nat.
Hypothesis enough : (Nat.min (length A) (length D) <= m)%nat.

Let key (i : nat) : option nat := if Nat.ltb i spare then None else Some i.

Definition slot_of (pair : nat * nat) (is_bad : bool) : slot :=
  {| weight := c ^ counts (fst pair); weight' := c ^ counts' (snd pair);
     answer := key (fst pair); answer' := key (snd pair); bad := is_bad |}.

Let slots : list slot :=
  map (fun i => slot_of (i, i) false) common ++ map (fun pair => slot_of pair true) (combine left right).

Lemma firsts : forall (X Y : Type) (f : X -> Y) (l l' : list X), length l = length l' ->
  map (fun pair => f (fst pair)) (combine l l') = map f l.
Proof.
  induction l as [|x l IH]; intros [|x' l'] same; cbn in *; try reflexivity; try discriminate.
  rewrite IH; [reflexivity|]. lia.
Qed.

Lemma seconds : forall (X Y : Type) (f : X -> Y) (l l' : list X), length l = length l' ->
  map (fun pair => f (snd pair)) (combine l l') = map f l'.
Proof.
  induction l as [|x l IH]; intros [|x' l'] same; cbn in *; try reflexivity; try discriminate.
  rewrite IH; [reflexivity|]. lia.
Qed.

Lemma slots_before : map one slots = items c spare counts (common ++ left).
Proof.
  unfold slots, items. rewrite !map_app, !map_map. f_equal.
  apply (firsts _ _ (fun i => (c ^ counts i, if Nat.ltb i spare then None else Some i)) left right as_many).
Qed.

Lemma slots_after : map other slots = items c spare counts' (common ++ right).
Proof.
  unfold slots, items. rewrite !map_app, !map_map. f_equal.
  apply (seconds _ _ (fun i => (c ^ counts' i, if Nat.ltb i spare then None else Some i)) left right as_many).
Qed.

Lemma power_le : forall a b, (a <= b)%nat -> c ^ a <= c ^ b.
Proof. intros a b le. apply Rle_pow; assumption. Qed.

Lemma slots_move : forall s, In s slots ->
  0 < weight s /\ 0 < weight' s /\ weight s <= weight' s <= c * weight s /\ (bad s = false -> answer' s = answer s).
Proof.
  assert (move : forall a b, (a <= b <= S a)%nat -> c ^ a <= c ^ b <= c * c ^ a).
  { intros a b between. split; [apply power_le; lia|]. change (c * c ^ a) with (c ^ S a). apply power_le. lia. }
  assert (pos : forall k, 0 < c ^ k) by (intros k; apply pow_lt; lra).
  intros s inside. unfold slots in inside. apply in_app_or in inside. destruct inside as [inside|inside].
  - apply in_map_iff in inside. destruct inside as [i [<- _]]. cbn [slot_of weight weight' answer answer' bad fst snd].
    split; [apply pos|split; [apply pos|split; [apply move, rises|reflexivity]]].
  - apply in_map_iff in inside. destruct inside as [[b b'] [<- pair]].
    cbn [slot_of weight weight' answer answer' bad fst snd].
    pose proof (in_combine_l _ _ _ _ pair) as here. pose proof (in_combine_r _ _ _ _ pair) as here'.
    apply left_is in here. apply right_is in here'.
    destruct (matched b b') as [between _]; try tauto.
    split; [apply pos|split; [apply pos|split; [apply move, between|discriminate]]].
Qed.

Lemma total_const : forall X (f : X -> R) l bound, (forall x, In x l -> f x <= bound) -> total f l <= INR (length l) * bound.
Proof.
  induction l as [|x l IH]; intros bound below; [cbn; lra|].
  change (length (x :: l)) with (S (length l)). rewrite S_INR. cbn [total].
  pose proof (below x (or_introl eq_refl)).
  assert (total f l <= INR (length l) * bound) by (apply IH; intros y inside; apply below; right; exact inside). lra.
Qed.

Lemma total_app : forall X (f : X -> R) l l', total f (l ++ l') = total f l + total f l'.
Proof. induction l as [|x l IH]; intros l'; cbn [total app]; [|rewrite IH]; lra. Qed.

Lemma rare_enough :
  forall heavy count, (forall pair, In pair (combine left right) -> heavy (slot_of pair true) <= c ^ S count) ->
    (forall s, In s slots -> 0 < heavy s) ->
    bad_weight heavy slots / (bad_weight heavy slots + ending c d m count) <= d.
Proof.
  intros heavy count light pos. unfold bad_weight, slots. rewrite total_app, !total_map.
  rewrite (total_ext _ (fun x => if bad (slot_of (x, x) false) then heavy (slot_of (x, x) false) else 0) (fun _ => 0))
    by reflexivity.
  assert (zero : total (fun _ : nat => 0) common = 0).
  { pose proof (total_scal _ 0 (fun _ : nat => 0) common) as scaled. cbv beta in scaled.
    rewrite (total_ext _ (fun _ : nat => 0 * 0) (fun _ => 0)) in scaled by (intros; lra). lra. }
  rewrite zero, Rplus_0_l.
  change (fun x : nat * nat => if bad (slot_of x true) then heavy (slot_of x true) else 0)
    with (fun x : nat * nat => heavy (slot_of x true)).
  set (b := total (fun x => heavy (slot_of x true)) (combine left right)).
  assert (b0 : 0 <= b).
  { apply total_nonneg. intros pair inside. left. apply pos. unfold slots. apply in_or_app. right.
    apply (in_map (fun pair => slot_of pair true)). exact inside. }
  assert (bound : b <= INR m * c ^ S count).
  { apply Rle_trans with (INR (length (combine left right)) * c ^ S count); [apply total_const; exact light|].
    apply Rmult_le_compat_r; [left; apply pow_lt; lra|]. apply le_INR.
    rewrite combine_length, as_many, Nat.min_id. pose proof few. lia. }
  assert (n0 : 0 < ending c d m count).
  { unfold ending. apply lt_0_INR in some. apply Rmult_lt_0_compat; [apply pow_lt; lra|].
    unfold Rdiv. apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; lra|apply Rinv_0_lt_compat; lra]. }
  assert (balance : b * (1 - d) <= d * ending c d m count).
  { unfold ending. replace (d * (c ^ S count * (INR m * (1 - d) / d))) with (INR m * c ^ S count * (1 - d)) by (field; lra).
    apply Rmult_le_compat_r; lra. }
  apply Rmult_le_reg_r with (b + ending c d m count); [lra|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

(* All answers of all rounds together: delta once. *)
Theorem limited_domain_private :
  forall event,
    limited c d spare m rounds counts D tau event
    <= c ^ rounds * limited c d spare m rounds counts' D' tau' event + d /\
    limited c d spare m rounds counts' D' tau' event
    <= c ^ rounds * limited c d spare m rounds counts D tau event + d.
Proof.
  intros event. unfold limited.
  assert (before_same : Permutation (items c spare counts D) (map one slots))
    by (rewrite slots_before; apply Permutation_map, before_split).
  assert (after_same : Permutation (items c spare counts' D') (map other slots))
    by (rewrite slots_after; apply Permutation_map, after_split).
  rewrite (peel_perm rounds (ending c d m tau) _ _ event before_same).
  rewrite (peel_perm rounds (ending c d m tau') _ _ event after_same).
  assert (factor : 0 < INR m * (1 - d) / d).
  { apply lt_0_INR in some. unfold Rdiv. apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; lra|apply Rinv_0_lt_compat; lra]. }
  assert (power : forall k, 0 < c ^ k) by (intros k; apply pow_lt; lra).
  pose proof next_count_moves as moves.
  apply slots_private; try exact c1.
  - unfold ending. apply Rmult_lt_0_compat; [apply power|exact factor].
  - unfold ending. apply Rmult_lt_0_compat; [apply power|exact factor].
  - intros s inside. apply slots_move, inside.
  - intros s inside. apply slots_move, inside.
  - intros s inside. apply slots_move, inside.
  - unfold ending. split.
    + apply Rmult_le_compat_r; [lra|]. apply power_le. lia.
    + rewrite <- Rmult_assoc. apply Rmult_le_compat_r; [lra|]. change (c * c ^ S tau) with (c ^ S (S tau)). apply power_le. lia.
  - intros s inside. apply slots_move, inside.
  - apply rare_enough; [|intros s inside; apply slots_move, inside].
    intros [b b'] pair. cbn [slot_of weight fst]. apply power_le.
    pose proof (in_combine_l _ _ _ _ pair) as here. pose proof (in_combine_r _ _ _ _ pair) as here'.
    apply left_is in here. apply right_is in here'. apply (matched b b'); tauto.
  - apply rare_enough; [|intros s inside; apply slots_move, inside].
    intros [b b'] pair. cbn [slot_of weight' snd]. apply power_le.
    pose proof (in_combine_l _ _ _ _ pair) as here. pose proof (in_combine_r _ _ _ _ pair) as here'.
    apply left_is in here. apply right_is in here'. apply (matched b b'); tauto.
Qed.

End Counts.
