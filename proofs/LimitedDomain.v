(* Private candidates by a limited domain: the d keys of the largest counts are read, and rounds of the exponential
   mechanism run over them and *nothing*, which ends the list. docs/reference/mechanisms/top_k.md#limited_domain.

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

(* Weights that are multiplied by factors between `low` and `low * c`: each round costs c. *)
Lemma good_is_near :
  forall c low heavy heavy', 1 <= c -> 0 < low -> forall rounds nothing nothing' slots event,
    0 < nothing -> 0 < nothing' -> heavy_slots heavy slots -> heavy_slots heavy' slots ->
    low * nothing <= nothing' <= low * c * nothing ->
    (forall s, In s slots -> low * heavy s <= heavy' s <= low * c * heavy s) ->
    good heavy rounds nothing slots event <= c ^ rounds * good heavy' rounds nothing' slots event.
Proof.
  intros c low heavy heavy' c1 low0. induction rounds as [|less IH]; intros nothing nothing' slots event some some' pos pos' n01 near.
  - cbn [good pow]. lra.
  - assert (h0 : 0 <= total heavy slots) by (apply total_nonneg; intros s inside; left; apply pos, inside).
    assert (h0' : 0 <= total heavy' slots) by (apply total_nonneg; intros s inside; left; apply pos', inside).
    cbn [good pow].
    set (all := nothing + total heavy slots). set (all' := nothing' + total heavy' slots).
    assert (all0 : 0 < all) by (unfold all; lra). assert (all0' : 0 < all') by (unfold all'; lra).
    assert (power : 0 < c ^ less) by (apply pow_lt; lra).
    assert (power1 : 1 <= c ^ less) by (apply pow_R1_Rle; exact c1).
    assert (grow : all' <= low * c * all).
    { unfold all, all'. rewrite Rmult_plus_distr_l, <- total_scal.
      apply Rplus_le_compat; [lra|]. apply total_le. intros s inside. apply near, inside. }
    (* x / all <= c x' / all' for each weight *)
    assert (share : forall x x', 0 < x -> low * x <= x' -> x / all <= c * (x' / all')).
    { intros x x' x0 le. apply Rmult_le_reg_r with (all * all'); [apply Rmult_lt_0_compat; assumption|].
      replace (x / all * (all * all')) with (x * all') by (field; lra).
      replace (c * (x' / all') * (all * all')) with (x' * (c * all)) by (field; lra).
      assert (x * all' <= x * (low * c * all)) by (apply Rmult_le_compat_l; lra).
      assert (0 <= c * all) by (apply Rmult_le_pos; lra).
      assert (low * x * (c * all) <= x' * (c * all)) by (apply Rmult_le_compat_r; lra). lra. }
    assert (first : nothing / all <= c * (nothing' / all')) by (apply share; [exact some|apply n01]).
    assert (each : forall s, In s slots -> heavy s / all <= c * (heavy' s / all'))
      by (intros s inside; apply share; [apply pos, inside|apply near, inside]).
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
          + apply IH; try assumption. intros s inside'. apply near, within, inside'.
        - exists (told event), (told event). repeat apply conj; try lra.
          assert (1 * told event <= c ^ less * told event) by (apply Rmult_le_compat_r; lra). lra. }
      destruct part as [x [x' [x0 [x0' [le [-> ->]]]]]].
      assert (heavy (fst pick) / all * x <= c * (heavy' (fst pick) / all') * x) by (apply Rmult_le_compat_r; lra).
      assert (c * (heavy' (fst pick) / all') * x <= c * (heavy' (fst pick) / all') * (c ^ less * x'))
        by (apply Rmult_le_compat_l; lra).
      lra.
Qed.

(* One delta for all rounds: slots of which weights are multiplied by factors between `low` and `low * c`, the bad ones
   light on both sides. *)
Theorem slots_private :
  forall c low d rounds nothing nothing' slots event,
    1 <= c -> 0 < low -> 0 < nothing -> 0 < nothing' -> heavy_slots weight slots -> heavy_slots weight' slots ->
    (forall s, In s slots -> bad s = false -> answer' s = answer s) ->
    low * nothing <= nothing' <= low * c * nothing ->
    (forall s, In s slots -> low * weight s <= weight' s <= low * c * weight s) ->
    bad_weight weight slots / (bad_weight weight slots + nothing) <= d ->
    bad_weight weight' slots / (bad_weight weight' slots + nothing') <= d ->
    peel rounds nothing (map one slots) event <= c ^ rounds * peel rounds nothing' (map other slots) event + d /\
    peel rounds nothing' (map other slots) event <= c ^ rounds * peel rounds nothing (map one slots) event + d.
Proof.
  intros c low d rounds nothing nothing' slots event c1 low0 some some' pos pos' same near each rare rare'.
  assert (power : 0 < c ^ rounds) by (apply pow_lt; lra).
  pose proof (bad_is_rare weight answer rounds nothing slots event some pos (fun _ _ _ => eq_refl)) as a.
  pose proof (bad_is_rare weight' answer' rounds nothing' slots event some' pos' same) as a'.
  pose proof (good_is_peel weight answer rounds nothing slots event some pos (fun _ _ _ => eq_refl)) as b.
  pose proof (good_is_peel weight' answer' rounds nothing' slots event some' pos' same) as b'.
  pose proof (good_is_near c low weight weight' c1 low0 rounds nothing nothing' slots event some some' pos pos'
    near each) as n.
  (* back, by factors between 1 / (low c) and 1 / low *)
  assert (scale : 0 < low * c) by (apply Rmult_lt_0_compat; lra).
  assert (back : forall x x', low * x <= x' <= low * c * x -> / (low * c) * x' <= x <= / (low * c) * c * x').
  { intros x x' [least most]. split; apply Rmult_le_reg_l with (low * c); try exact scale.
    - rewrite <- Rmult_assoc, Rinv_r by lra. lra.
    - replace (low * c * (/ (low * c) * c * x')) with (c * x') by (field; lra).
      assert (c * (low * x) <= c * x') by (apply Rmult_le_compat_l; lra). lra. }
  pose proof (good_is_near c (/ (low * c)) weight' weight c1 (Rinv_0_lt_compat _ scale) rounds nothing' nothing slots event
    some' some pos' pos (back _ _ near) (fun s inside => back _ _ (each s inside))) as n'.
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

(* A unit gives way to another: of the keys that only one of them has, those in A lose one and those in B gain one. *)
Definition exchanges (counts counts' : nat -> nat) (A B : list nat) : Prop :=
  NoDup A /\ NoDup B /\ (forall i, In i A -> counts i = S (counts' i)) /\ (forall i, In i B -> counts' i = S (counts i)) /\
  (forall i, ~ In i A -> ~ In i B -> counts' i = counts i).

Definition items (c : R) (spare : nat) (counts : nat -> nat) (D : list nat) : list (R * option nat) :=
  map (fun i => (c ^ counts i, if Nat.ltb i spare then None else Some i)) D.

(* e^(eta (tau + s + T)), with e^(eta T) = m (1 - d) / d, s being the spread of counts: 1 where a unit comes, 2 where it
   gives way to another. *)
Definition ending (c d : R) (m s tau : nat) : R := c ^ (s + tau) * (INR m * (1 - d) / d).

Definition limited (c d : R) (spare m s rounds : nat) (counts : nat -> nat) (D : list nat) (tau : nat) : (list nat -> bool) -> R :=
  peel rounds (ending c d m s tau) (items c spare counts D).

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

(* No count rises by more than `up` or falls by more than `down`. *)
Section Counts.
Variables (n up down : nat) (counts counts' : nat -> nat) (D D' : list nat) (tau tau' : nat).
Hypothesis moves : forall i, (counts' i <= up + counts i /\ counts i <= down + counts' i)%nat.
Hypothesis is_top : top n counts D tau.
Hypothesis is_top' : top n counts' D' tau'.
Hypothesis same_length : length D = length D'.

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

(* What leaves was ahead of what comes, and is behind it then. *)
Lemma overtaken : forall y x, In y D -> ~ In y D' -> In x D' -> ~ In x D -> ahead counts y x /\ ahead counts' x y.
Proof.
  intros y x here gone here' new. destruct is_top as [_ [range [order _]]]. destruct is_top' as [_ [range' [order' _]]].
  split; [apply order|apply order']; try assumption; [apply range', here'|apply range, here].
Qed.

Lemma next_count_moves : (tau' <= up + tau /\ tau <= down + tau')%nat.
Proof.
  destruct is_top as [_ [range [order [[j [jn [jout jis]]] most]]]].
  destruct is_top' as [_ [range' [order' [[j' [jn' [jout' jis']]] most']]]].
  split.
  - destruct (in_dec Nat.eq_dec j' D) as [inside|outside].
    + destruct (comes_if_leaves j' inside jout') as [y [here gone]].
      pose proof (order' y j' here jout' jn'). pose proof (most y (range' y here) gone). pose proof (moves y).
      unfold ahead in *. lia.
    + pose proof (most j' jn' outside). pose proof (moves j'). lia.
  - destruct (in_dec Nat.eq_dec j D') as [inside|outside].
    + destruct (leaves_if_comes j inside jout) as [y [here gone]].
      pose proof (order y j here jout jn). pose proof (most' y (range y here) gone). pose proof (moves y).
      unfold ahead in *. lia.
    + pose proof (most' j jn outside). pose proof (moves j). lia.
Qed.

Lemma matched :
  forall b b', In b D -> ~ In b D' -> In b' D' -> ~ In b' D ->
    (counts' b' <= up + counts b /\ counts b <= down + counts' b' /\
     counts b <= up + down + tau /\ counts' b' <= up + down + tau')%nat.
Proof.
  intros b b' here gone here' new.
  destruct is_top as [_ [range [order [[j [jn [jout jis]]] most]]]].
  destruct is_top' as [_ [range' [order' [[j' [jn' [jout' jis']]] most']]]].
  pose proof (most' b (range b here) gone). pose proof (moves b). pose proof (moves b').
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

(* At most as many keys come in as there are in a list to which all of them belong. *)
Lemma few_come : forall A, (forall x, In x right -> In x A) -> (length right <= Nat.min (length A) (length D'))%nat.
Proof.
  intros A inside. destruct is_top' as [nodup' _].
  apply Nat.min_glb; apply NoDup_incl_length; try (apply NoDup_filter, nodup'); [exact inside|].
  intros x member. apply right_is in member. tauto.
Qed.

Lemma few_leave : forall A, (forall x, In x left -> In x A) -> (length right <= Nat.min (length A) (length D'))%nat.
Proof.
  intros A inside. destruct is_top as [nodup _]. rewrite <- as_many, <- same_length.
  apply Nat.min_glb; apply NoDup_incl_length; try (apply NoDup_filter, nodup); [exact inside|].
  intros x member. apply left_is in member. tauto.
Qed.

Variables (c d : R) (spare m rounds : nat).
Hypothesis c1 : 1 <= c.
Hypothesis d01 : 0 < d < 1.
Hypothesis some : (0 < m)%nat.
Hypothesis enough : (length right <= m)%nat.

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

Let low : R := / c ^ down.

Lemma low_positive : 0 < low.
Proof. apply Rinv_0_lt_compat, pow_lt. lra. Qed.

Lemma powers_move : forall a b, (b <= up + a /\ a <= down + b)%nat -> low * c ^ a <= c ^ b <= low * c ^ (up + down) * c ^ a.
Proof.
  intros a b [most least]. assert (pos : 0 < c ^ down) by (apply pow_lt; lra).
  assert (scaled : forall x y, x <= c ^ down * y -> low * x <= y).
  { intros x y le. unfold low. apply Rmult_le_reg_l with (c ^ down); [exact pos|].
    rewrite <- Rmult_assoc, Rinv_r by lra. lra. }
  split.
  - apply scaled. rewrite <- pow_add. apply power_le. exact least.
  - replace (low * c ^ (up + down) * c ^ a) with (c ^ (up + a)).
    + apply power_le. exact most.
    + unfold low. rewrite !pow_add. field. lra.
Qed.

Lemma slots_move : forall s, In s slots ->
  0 < weight s /\ 0 < weight' s /\ low * weight s <= weight' s <= low * c ^ (up + down) * weight s /\
  (bad s = false -> answer' s = answer s).
Proof.
  assert (pos : forall k, 0 < c ^ k) by (intros k; apply pow_lt; lra).
  intros s inside. unfold slots in inside. apply in_app_or in inside. destruct inside as [inside|inside].
  - apply in_map_iff in inside. destruct inside as [i [<- _]]. cbn [slot_of weight weight' answer answer' bad fst snd].
    split; [apply pos|split; [apply pos|split; [apply powers_move, moves|reflexivity]]].
  - apply in_map_iff in inside. destruct inside as [[b b'] [<- pair]].
    cbn [slot_of weight weight' answer answer' bad fst snd].
    pose proof (in_combine_l _ _ _ _ pair) as here. pose proof (in_combine_r _ _ _ _ pair) as here'.
    apply left_is in here. apply right_is in here'.
    destruct (matched b b') as [most [least _]]; try tauto.
    split; [apply pos|split; [apply pos|split; [apply powers_move; split; assumption|discriminate]]].
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
  forall heavy count, (forall pair, In pair (combine left right) -> heavy (slot_of pair true) <= c ^ (up + down + count)) ->
    (forall s, In s slots -> 0 < heavy s) ->
    bad_weight heavy slots / (bad_weight heavy slots + ending c d m (up + down) count) <= d.
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
  assert (bound : b <= INR m * c ^ (up + down + count)).
  { apply Rle_trans with (INR (length (combine left right)) * c ^ (up + down + count)); [apply total_const; exact light|].
    apply Rmult_le_compat_r; [left; apply pow_lt; lra|]. apply le_INR.
    rewrite combine_length, as_many, Nat.min_id. exact enough. }
  assert (n0 : 0 < ending c d m (up + down) count).
  { unfold ending. apply lt_0_INR in some. apply Rmult_lt_0_compat; [apply pow_lt; lra|].
    unfold Rdiv. apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; lra|apply Rinv_0_lt_compat; lra]. }
  assert (balance : b * (1 - d) <= d * ending c d m (up + down) count).
  { unfold ending. replace (d * (c ^ (up + down + count) * (INR m * (1 - d) / d))) with (INR m * c ^ (up + down + count) * (1 - d)) by (field; lra).
    apply Rmult_le_compat_r; lra. }
  apply Rmult_le_reg_r with (b + ending c d m (up + down) count); [lra|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

Lemma limited_private :
  forall event,
    limited c d spare m (up + down) rounds counts D tau event
    <= (c ^ (up + down)) ^ rounds * limited c d spare m (up + down) rounds counts' D' tau' event + d /\
    limited c d spare m (up + down) rounds counts' D' tau' event
    <= (c ^ (up + down)) ^ rounds * limited c d spare m (up + down) rounds counts D tau event + d.
Proof.
  intros event. unfold limited.
  assert (before_same : Permutation (items c spare counts D) (map one slots))
    by (rewrite slots_before; apply Permutation_map, before_split).
  assert (after_same : Permutation (items c spare counts' D') (map other slots))
    by (rewrite slots_after; apply Permutation_map, after_split).
  rewrite (peel_perm rounds (ending c d m (up + down) tau) _ _ event before_same).
  rewrite (peel_perm rounds (ending c d m (up + down) tau') _ _ event after_same).
  assert (factor : 0 < INR m * (1 - d) / d).
  { apply lt_0_INR in some. unfold Rdiv. apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; lra|apply Rinv_0_lt_compat; lra]. }
  assert (power : forall k, 0 < c ^ k) by (intros k; apply pow_lt; lra).
  pose proof next_count_moves as next.
  apply slots_private with (low := low).
  - apply pow_R1_Rle. exact c1.
  - exact low_positive.
  - unfold ending. apply Rmult_lt_0_compat; [apply power|exact factor].
  - unfold ending. apply Rmult_lt_0_compat; [apply power|exact factor].
  - intros s inside. apply slots_move, inside.
  - intros s inside. apply slots_move, inside.
  - intros s inside. apply slots_move, inside.
  - unfold ending. rewrite <- !Rmult_assoc.
    destruct (powers_move (up + down + tau) (up + down + tau') ltac:(lia)) as [least most].
    split; apply Rmult_le_compat_r; lra.
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

(* All answers of all rounds together: delta once. *)
Theorem limited_domain_private :
  forall n counts counts' A D D' tau tau' c d spare m rounds,
    joins counts counts' A -> top n counts D tau -> top n counts' D' tau' -> length D = length D' ->
    1 <= c -> 0 < d < 1 -> (0 < m)%nat -> (Nat.min (length A) (length D) <= m)%nat ->
    forall event,
      limited c d spare m 1 rounds counts D tau event
      <= c ^ rounds * limited c d spare m 1 rounds counts' D' tau' event + d /\
      limited c d spare m 1 rounds counts' D' tau' event
      <= c ^ rounds * limited c d spare m 1 rounds counts D tau event + d.
Proof.
  intros n counts counts' A D D' tau tau' c d spare m rounds joined is_top is_top' same c1 d01 some enough event.
  destruct joined as [distinct [inside outside]].
  assert (moves : forall i, (counts' i <= 1 + counts i /\ counts i <= 0 + counts' i)%nat).
  { intros i. destruct (in_dec Nat.eq_dec i A) as [yes|no]; [rewrite (inside i yes)|rewrite (outside i no)]; lia. }
  pose proof (limited_private n 1 0 counts counts' D D' tau tau' moves is_top is_top' same c d spare m rounds c1 d01 some)
    as both.
  cbn [Nat.add] in both. rewrite pow_1 in both. apply both.
  apply Nat.le_trans with (2 := enough). rewrite same. apply (few_come n counts' D D' tau' is_top').
  (* only keys of the unit come in *)
  intros x new. apply right_is in new. destruct new as [here' new].
  destruct (in_dec Nat.eq_dec x A) as [yes|no]; [exact yes|exfalso].
  destruct (leaves_if_comes n counts counts' D D' tau tau' is_top is_top' same x here' new) as [y [here gone]].
  destruct (overtaken n counts counts' D D' tau tau' is_top is_top' y x here gone here' new) as [before after].
  pose proof (outside x no). pose proof (moves y). unfold ahead in *. lia.
Qed.

Theorem limited_domain_replace_one :
  forall n counts counts' A B D D' tau tau' c d spare m rounds,
    exchanges counts counts' A B -> top n counts D tau -> top n counts' D' tau' -> length D = length D' ->
    1 <= c -> 0 < d < 1 -> (0 < m)%nat ->
    (Nat.min (length A) (length D) <= m)%nat -> (Nat.min (length B) (length D) <= m)%nat ->
    forall event,
      limited c d spare m 2 rounds counts D tau event
      <= (c ^ 2) ^ rounds * limited c d spare m 2 rounds counts' D' tau' event + d /\
      limited c d spare m 2 rounds counts' D' tau' event
      <= (c ^ 2) ^ rounds * limited c d spare m 2 rounds counts D tau event + d.
Proof.
  intros n counts counts' A B D D' tau tau' c d spare m rounds exchanged is_top is_top' same c1 d01 some enough_a enough_b event.
  destruct exchanged as [distinct_a [distinct_b [falls [rises still]]]].
  assert (moves : forall i, (counts' i <= 1 + counts i /\ counts i <= 1 + counts' i)%nat).
  { intros i. destruct (in_dec Nat.eq_dec i A) as [yes|no]; [rewrite (falls i yes); lia|].
    destruct (in_dec Nat.eq_dec i B) as [yes|no']; [rewrite (rises i yes)|rewrite (still i no no')]; lia. }
  apply (limited_private n 1 1 counts counts' D D' tau tau' moves is_top is_top' same c d spare m rounds c1 d01 some).
  assert (overtake : forall y x, In y D -> ~ In y D' -> In x D' -> ~ In x D -> In y A \/ In x B).
  { intros y x here gone here' new.
    destruct (overtaken n counts counts' D D' tau tau' is_top is_top' y x here gone here' new) as [before after].
    destruct (in_dec Nat.eq_dec y A) as [yes|no]; [left; exact yes|right].
    destruct (in_dec Nat.eq_dec x B) as [yes|no']; [exact yes|exfalso].
    assert (counts y <= counts' y)%nat.
    { destruct (in_dec Nat.eq_dec y B) as [yes|other]; [rewrite (rises y yes)|rewrite (still y no other)]; lia. }
    assert (counts' x <= counts x)%nat.
    { destruct (in_dec Nat.eq_dec x A) as [yes|other]; [rewrite (falls x yes)|rewrite (still x other no')]; lia. }
    unfold ahead in *. lia. }
  (* all that leave fell, or all that come rose *)
  destruct (existsb (fun y => negb (within A y)) (filter (fun i => negb (within D' i)) D)) eqn:some_stay.
  - apply existsb_exists in some_stay. destruct some_stay as [y [leaves fell_not]].
    apply left_is in leaves. destruct leaves as [here gone]. apply negb_true_iff, within_false in fell_not.
    apply Nat.le_trans with (2 := enough_b). rewrite same. apply (few_come n counts' D D' tau' is_top').
    intros x new. apply right_is in new. destruct (overtake y x); tauto.
  - apply Nat.le_trans with (2 := enough_a). rewrite same. apply (few_leave n counts counts' D D' tau tau' is_top is_top' same).
    intros y leaves. destruct (within A y) eqn:fell; [apply within_true, fell|].
    assert (existsb (fun y => negb (within A y)) (filter (fun i => negb (within D' i)) D) = true)
      by (apply existsb_exists; exists y; split; [exact leaves|rewrite fell; reflexivity]). congruence.
Qed.
